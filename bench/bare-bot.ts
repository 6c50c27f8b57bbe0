/**
 * The floor: a bot on the same libraries that does nothing but the call. Telegram update → Messages API → answer.
 * Usage: node bench/bare-bot.ts TELEGRAM_URL TELEGRAM_TOKEN MESSAGES_URL
 */
import Anthropic from '@anthropic-ai/sdk';
import { Bot } from 'grammy';

const [apiRoot = '', token = '', baseURL = ''] = process.argv.slice(2);
const model = new Anthropic({ baseURL, apiKey: 'bench', maxRetries: 0 });
const bot = new Bot(token, { client: { apiRoot } });
bot.on('message:text', async (context) => {
  const stream = model.messages.stream({
    model: 'claude-sonnet-5-5',
    max_tokens: 1_000,
    messages: [{ role: 'user', content: context.message.text }],
  });
  const answer = await stream.finalMessage();
  const [block] = answer.content;
  await context.reply(block?.type === 'text' ? block.text : '');
});
process.once('SIGTERM', () => void bot.stop().then(() => process.exit(0)));
await bot.start();

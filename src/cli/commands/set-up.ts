import { command, count, flag, gather, option, senderId } from '../command.ts';
import { print, printJson } from '../console.ts';

const many = {
  read: (one: string, all?: readonly string[]) => gather(senderId(one), all),
  preset: undefined,
};

/** Commands to set up a bot that answers, and to say what is wrong with one. */
export const setUpCommands = [
  command({
    name: 'init',
    about: 'set up a bot: asks, tests each token, writes config.toml and .env',
    options: {
      yes: flag('do not ask; skip what has no flag'),
      replace: flag('replace an existing file, and keep it as .old'),
      offline: flag('do not use the network'),
      name: option('text', 'the name of the bot'),
      model: option('id', 'the model, such as claude-sonnet-5-5'),
      api: option('kind', 'how the model is asked: anthropic, openai (Chat Completions), bedrock or vertex'),
      'base-url': option('url', 'the address of the model’s server'),
      region: option('name', 'of Bedrock or Vertex AI'),
      project: option('id', 'of Vertex AI'),
      'api-key': option('key', "key of the model; '$NAME' reads a variable, here and for tokens"),
      'telegram-token': option('token', 'token from @BotFather'),
      'telegram-api-root': option('url', 'the address of your own Bot API server'),
      'slack-bot-token': option('token', 'Bot User OAuth Token, xoxb-…'),
      'slack-app-token': option('token', 'app-level token, xapp-…'),
      'slack-api-url': option('url', 'another address of the Web API'),
      owner: option<readonly string[] | undefined>(
        'id',
        'an owner, such as telegram:42; can be repeated',
        many,
      ),
      'find-owner': flag('print a code; the person who sends it to the bot becomes the owner'),
      group: option<readonly string[] | undefined>('id', 'a group to admit; can be repeated', many),
      'find-group': flag('admit the next group that an owner adds the bot to'),
      wait: option<number>('seconds', 'how long to wait for the code and the group', {
        read: count,
        preset: 300,
      }),
    },
    examples: [
      'skillet init --config /srv/bot/config.toml',
      "skillet init --yes --api-key '$ANTHROPIC_API_KEY' --telegram-token '$TELEGRAM_BOT_TOKEN' --find-owner",
    ],
    run: async (given) => (await import('../init/init.ts')).init(given),
  }),
  command({
    name: 'doctor',
    about: 'find problems, and say for each why it matters and how to fix it',
    options: {
      online: flag('also test Telegram, Slack and the language model'),
      models: flag('also ask each model for text, a stream, a tool call and a picture'),
      fix: flag('fix what needs no decision, such as file permissions'),
    },
    json: true,
    examples: ['skillet doctor --online --fix'],
    run: async (given) => (await import('../doctor.ts')).doctor(given),
  }),
  command({
    name: 'manifest slack',
    about: 'print the manifest of the Slack app',
    options: { link: flag('print a link that creates the app instead') },
    needs: 'nothing',
    json: true,
    async run({ link, json }) {
      const { slackManifest } = await import('../slack-manifest.ts');
      const manifest = slackManifest();
      if (json === true) printJson(manifest);
      else print(link === true ? manifest.link : manifest.text);
    },
  }),
];

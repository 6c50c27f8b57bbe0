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
    about: 'set up a bot: asks, tries each token at once, writes config.toml and .env',
    options: {
      yes: flag('ask nothing: what no flag says is left out'),
      replace: flag('write a new file where one is, and keep that as .old'),
      offline: flag('try nothing on the network'),
      name: option('text', 'what the bot is called'),
      model: option('id', 'the model, such as claude-sonnet-5-5'),
      'base-url': option('url', 'a server that speaks the Messages API'),
      'api-key': option('key', "key of the model; '$NAME' is that variable, here and in the tokens below"),
      'telegram-token': option('token', 'token from @BotFather'),
      'telegram-api-root': option('url', 'a Bot API server of your own'),
      'slack-bot-token': option('token', 'Bot User OAuth Token, xoxb-…'),
      'slack-app-token': option('token', 'app-level token, xapp-…'),
      'slack-api-url': option('url', 'another address of the Web API'),
      owner: option<readonly string[] | undefined>(
        'id',
        'an owner, such as telegram:42; may be given again',
        many,
      ),
      'find-owner': flag('print a code; who sends it to the bot is the owner'),
      group: option<readonly string[] | undefined>('id', 'a group to admit; may be given again', many),
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
    about: 'look for what is wrong: each finding with why it matters and how to fix it',
    options: {
      online: flag('ask Telegram, Slack and the language model, too'),
      fix: flag('put right what needs no decision, such as rights of files'),
    },
    json: true,
    examples: ['skillet doctor --online --fix'],
    run: async (given) => (await import('../doctor.ts')).doctor(given),
  }),
  command({
    name: 'manifest slack',
    about: 'the manifest of the Slack app, or the page that makes the app',
    options: { link: flag('print the address of that page') },
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

import path from 'node:path';
import { testAsOrdinaryUser } from '../support/as-ordinary-user.ts';

// At least one test of each promise. All of them: SKILLET_TEST_CONTAINERS=1 npm test -- test/sandbox/docker
await testAsOrdinaryUser(
  'T9 R6 docker: what is promised of sandboxes holds in containers of podman',
  path.join(import.meta.dirname, 'docker-cases.ts'),
  [
    'arguments reach the script as they are',
    'a path of the skill means the same in every form',
    'in the working folder a command may write over',
    'larger files of the skill stand in the working folder read-only',
    'no file of the host outside its folders can be read',
    'no file of the host outside its folders can be written',
    'declares no network reaches no address',
    'reaches the hosts that it declares through the proxy, and no others',
    'has the declared environment and nothing of the host',
    'shows in no command line of the host',
    'is ended when its time is up',
    'is ended when its call is cancelled',
    'too many processes ends a command',
    'memory spread over processes ends a command',
    'one large file ends a command',
    'has no privileges, an ordinary user, own processes',
    'ends when the bot is killed, and nothing of it is left',
    'an image is not fetched by itself',
  ],
);

import path from 'node:path';
import { testAsNobody } from '../support/as-nobody.ts';

await testAsNobody(
  'T9 R6 docker: what is promised of sandboxes holds in containers of podman',
  path.join(import.meta.dirname, 'docker-cases.ts'),
);

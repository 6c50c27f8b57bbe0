import { OperatorError } from '../core/errors.ts';
import type { Inbox } from '../stores/store.ts';
import type { Operate } from './control.ts';
import type { Pairing, PairingRequest } from './pairing.ts';
import type { People } from './people.ts';

/** The operator's commands on the store, the same whether a bot runs or not (Q9). */
export function createOperate(options: {
  inbox: Inbox;
  people: People;
  pairing: Pairing;
  welcome(request: PairingRequest): Promise<void>;
}): Operate {
  const { inbox, people, pairing, welcome } = options;
  return async (operation, argument) => {
    switch (operation) {
      case 'pair list':
        return {
          pending: await pairing.pending(),
          paired: await people.paired(),
          owners: await people.owners(),
        };
      case 'pair approve': {
        const request = found(await pairing.approve(argument), argument);
        await welcome(request);
        return request;
      }
      case 'pair deny':
        return found(await pairing.deny(argument), argument);
      case 'pair revoke':
        if (!(await people.unpair(argument)))
          throw new OperatorError(`${argument} is not paired: see \`skillet pair list\``);
        return { revoked: argument };
      case 'inbox list':
        return inbox.list(argument === 'waiting' ? 'waiting' : 'dead');
      case 'inbox retry':
        if (!(await inbox.retry(argument)))
          throw new OperatorError(`nothing was set aside under ${argument}: see \`skillet inbox list\``);
        return { retried: argument };
      case 'inbox drop':
        if (!(await inbox.drop(argument)))
          throw new OperatorError(`nothing waits or was set aside under ${argument}`);
        return { dropped: argument };
    }
  };
}

function found(request: PairingRequest | undefined, code: string): PairingRequest {
  if (request === undefined)
    throw new OperatorError(
      `${code} is no valid pairing code (they last an hour): see \`skillet pair list\``,
    );
  return request;
}

import type { Decision } from '../../access/decide-message.ts';
import { isShared } from '../../core/conversation.ts';
import type { Memory, MemoryUse } from '../../core/memory.ts';

type MemoryDenial = 'MEMORY_OFF' | 'MEMORY_NOT_HERE' | 'MEMORY_NOT_YOURS' | 'MEMORY_PRIVATE';

type Judged = Pick<Memory, 'scope' | 'author' | 'chat' | 'isPrivate' | 'isApproved' | 'taint'>;

/**
 * Decides about every use of a note (K1, K2): in prompts, tools, commands, searches and lists. Anything missing or
 * unknown denies.
 */
export function decideMemory(memory: Judged, use: MemoryUse): Decision<MemoryDenial> {
  const isAuthor = memory.author === use.sender && use.sender !== '';
  switch (use.what) {
    // This does not ask `use.isOn`: what is switched off can still be listed and removed.
    case 'list':
      return isAuthor ? allowed : deny('MEMORY_NOT_YOURS', 'somebody else had it noted');
    case 'forget':
      return isAuthor || (use.manages === true && mayShow({ ...use, what: 'show' }, memory).allowed)
        ? allowed
        : deny('MEMORY_NOT_YOURS', 'only who had it noted, an owner or an approver may remove it');
    case 'show':
      return use.isOn === true ? mayShow(use, memory) : off;
    case 'write':
      if (use.isOn !== true) return off;
      return isAuthor ? mayShowOnce(use, memory) : deny('MEMORY_NOT_YOURS', 'it is noted for somebody else');
    default:
      return deny('MEMORY_NOT_HERE', 'this is no known use of a memory');
  }
}

function mayShow(use: MemoryUse, memory: Judged): Decision<MemoryDenial> {
  const { chatType, chatIds, external, sender } = use;
  if (memory.scope === 'person') {
    if (chatType !== 'private') return deny('MEMORY_NOT_HERE', 'it is for direct messages');
    const isTheirs = memory.author === sender && sender !== '';
    return isTheirs ? allowed : deny('MEMORY_NOT_YOURS', 'it belongs to another person');
  }
  const kept = whyKept(memory);
  if (kept !== undefined) return kept;
  if (memory.scope === 'chat') {
    const isHere = isShared(use) && chatIds.includes(memory.chat);
    return isHere ? allowed : deny('MEMORY_NOT_HERE', 'it belongs to another chat');
  }
  if (memory.scope !== 'team') return deny('MEMORY_NOT_HERE', 'its scope is not known');
  if (memory.isApproved !== true) return deny('MEMORY_NOT_HERE', 'no approver agreed to it');
  // A use that lost this field must not pass, so it is compared with false.
  if (external !== false) return deny('MEMORY_NOT_HERE', 'people of other companies read along here');
  return chatType === 'private' || isShared(use) ? allowed : deny('MEMORY_NOT_HERE', unknownChat);
}

/** Decides about a new note. For `team`, an approver is asked once the rest is allowed. */
function mayShowOnce(use: MemoryUse, memory: Judged): Decision<MemoryDenial> {
  if (use.chatType !== 'private' && !isShared(use)) return deny('MEMORY_NOT_HERE', unknownChat);
  if (memory.scope === 'person') return allowed;
  if (use.ephemeral !== false || use.chatType === 'private') return privately;
  return mayShow(use, { ...memory, isApproved: true });
}

/** Private words stay with their person (K2). Undefined: the note has none. */
function whyKept({ isPrivate, taint }: Judged): Decision<MemoryDenial> | undefined {
  if (isPrivate !== false) return privately;
  if (taint === undefined) return undefined;
  return deny('MEMORY_PRIVATE', 'this conversation holds what a sensitive skill or a linked account gave');
}

function deny(code: MemoryDenial, reason: string): Extract<Decision<MemoryDenial>, { allowed: false }> {
  return { allowed: false, code, reason };
}

const unknownChat = 'the kind of this chat is not known';
const allowed = { allowed: true } as const;
const off = deny('MEMORY_OFF', 'memory is switched off here');
const privately = deny('MEMORY_PRIVATE', 'what was said in private stays with the person who said it');

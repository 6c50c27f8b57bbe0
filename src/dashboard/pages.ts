import { accessPage } from './access.ts';
import { accountsPage, unlinkAccount } from './accounts.ts';
import { answerApproval, answerMoney, approvalsPage, revokeRule } from './approvals.ts';
import { auditFile, auditPage } from './audit.ts';
import { checksPage } from './checks.ts';
import { conversationPage } from './conversation.ts';
import { conversationsPage } from './conversations.ts';
import { costsFile, costsPage } from './costs.ts';
import { feedbackPage } from './feedback.ts';
import { healthPage } from './health.ts';
import { dropLetter, lettersPage, retryDelivery, retryLetter } from './letters.ts';
import { memoryPage, removeNote } from './memory.ts';
import { nowPage } from './now.ts';
import { overviewPage } from './overview.ts';
import type { Action, Download, Page } from './page.ts';
import { approvePair, denyPair, peoplePage, revokePair } from './people.ts';
import { personPage } from './person.ts';
import { playgroundPage } from './playground.ts';
import { dropRoutine, routinesPage, turnRoutine } from './routines.ts';
import { sessionsPage } from './sessions-page.ts';
import { decideWritten, skillPage, skillsPage } from './skills.ts';

/** All pages, in the order of the menu. */
export const pages: readonly Page[] = [
  ...[overviewPage, nowPage, approvalsPage, lettersPage, routinesPage],
  ...[peoplePage, conversationsPage, accessPage, playgroundPage, accountsPage],
  ...[skillsPage, feedbackPage, memoryPage, healthPage, checksPage],
  ...[costsPage, auditPage, sessionsPage],
  ...[personPage, conversationPage, skillPage],
];

/** What forms do, besides ending sessions. */
export const actions: ReadonlyMap<string, Action> = new Map([
  ['/approvals/answer', answerApproval],
  ['/money/answer', answerMoney],
  ['/policy/revoke', revokeRule],
  ['/inbox/retry', retryLetter],
  ['/inbox/drop', dropLetter],
  ['/outbox/retry', retryDelivery],
  ['/routines/pause', turnRoutine('pause')],
  ['/routines/resume', turnRoutine('resume')],
  ['/routines/remove', dropRoutine],
  ['/memory/remove', removeNote],
  ['/people/approve', approvePair],
  ['/people/deny', denyPair],
  ['/people/revoke', revokePair],
  ['/accounts/unlink', unlinkAccount],
  ['/skills/enable', decideWritten('enable')],
  ['/skills/discard', decideWritten('discard')],
]);

export const downloads: readonly Download[] = [costsFile, auditFile];

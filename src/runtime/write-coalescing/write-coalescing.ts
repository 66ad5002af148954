import { setImmediate } from 'node:timers';

// The process has one event loop, and so one state in this module. See README.md.

/** Maximum number of deferred sends. It bounds the wait of the first send of a turn. */
const MAX_SENDS = 16;

let sends: (() => void)[] = [];
let deferredWork: (() => void)[] = [];
let sentInTurn = 0;
/** Whether the previous turn had several sends. If not, the first send of a turn is not deferred. */
let hadSeveralSends = false;
let isEndScheduled = false;
let coalesces = true;

/** Turns coalescing on or off for the process. Off sends each write immediately. */
export function setWriteCoalescing(on: boolean): void {
  coalesces = on;
}

function scheduleEnd(): void {
  if (isEndScheduled) return;
  isEndScheduled = true;
  setImmediate(endTurn);
}

function endTurn(): void {
  isEndScheduled = false;
  hadSeveralSends = sentInTurn > 1;
  sentInTurn = 0;
  sendAll();
  const due = deferredWork;
  deferredWork = [];
  for (const work of due) work();
}

function sendAll(): void {
  const due = sends;
  sends = [];
  for (const send of due) send();
}

/** Sends now, or together with others before the turn ends. A send must not throw. */
export function sendCoalesced(send: () => void): void {
  if (!coalesces) return send();
  scheduleEnd();
  sentInTurn += 1;
  if (!hadSeveralSends && sentInTurn === 1) return send();
  if (sends.push(send) === MAX_SENDS) sendAll();
}

/** Runs work at the end of the turn, after its sends. It must not throw. */
export function afterSends(work: () => void): void {
  scheduleEnd();
  deferredWork.push(work);
}

import { setImmediate } from 'node:timers';

// The state is one for the process, as the event loop is. See README.md.

/** Most deferred sends. It bounds the wait of the first send of a turn. */
const MOST_SENDS = 16;

let sends: (() => void)[] = [];
let works: (() => void)[] = [];
let sentInTurn = 0;
/** Whether the previous turn had several sends; a single send is not deferred. */
let several = false;
let awaited = false;
let coalesces = true;

/** Turns coalescing on or off for the process. Off sends each write at once. */
export function setWriteCoalescing(on: boolean): void {
  coalesces = on;
}

function awaitEnd(): void {
  if (awaited) return;
  awaited = true;
  setImmediate(endTurn);
}

function endTurn(): void {
  awaited = false;
  several = sentInTurn > 1;
  sentInTurn = 0;
  sendAll();
  const due = works;
  works = [];
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
  awaitEnd();
  sentInTurn += 1;
  if (!several && sentInTurn === 1) return send();
  if (sends.push(send) === MOST_SENDS) sendAll();
}

/** Runs work at the end of the turn, after its sends. It must not throw. */
export function afterSends(work: () => void): void {
  awaitEnd();
  works.push(work);
}

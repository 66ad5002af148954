import { setImmediate } from 'node:timers';

// A write to a socket wakes its reader, which on one machine costs as much as the write. Consecutive writes find the
// readers awake. So with several calls in flight, the writes of one turn of the event loop are sent together at its
// end, and recording runs after them.

/** Most deferred sends. It bounds the wait of the first send of a turn. */
const MOST_SENDS = 16;

let sends: (() => void)[] = [];
let works: (() => void)[] = [];
let sentInTurn = 0;
/** Whether the previous turn had several sends; a single send is not deferred. */
let several = false;
let awaited = false;

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

import { setImmediate } from 'node:timers';

// A write to a socket wakes whoever reads it, which on one machine costs as much as the write. Those that follow one
// another at once find their readers awake. So while several calls are under way, what they send in one turn of the event
// loop goes out together at its end; and what they leave to be noted is noted behind it, when nobody waits for it.

/** Sends that wait at most: the first of a turn must not wait for the work of too many others. */
const MOST_SENDS = 16;

let sends: (() => void)[] = [];
let works: (() => void)[] = [];
let sentInTurn = 0;
/** Whether the turn before had several sends; who is alone is not made to wait. */
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
export function sendInTurn(send: () => void): void {
  awaitEnd();
  sentInTurn += 1;
  if (!several && sentInTurn === 1) return send();
  if (sends.push(send) === MOST_SENDS) sendAll();
}

/** Does a piece of work at the end of the turn, behind what is sent in it. It must not throw. */
export function behindSends(work: () => void): void {
  awaitEnd();
  works.push(work);
}

// Load from one Node process over bare keep-alive sockets, for machines without wrk. Prints one line of JSON.
//   LOAD='{"url":…,"headers":{…},"body":…,"connections":16,"seconds":3,"expectedStatus":200}' node bench/socket-load.ts
import { headOf, sendOverSocket } from './bare-socket.ts';
import type { LoadOrder, LoadReport } from './load.ts';

const order: LoadOrder = JSON.parse(process.env['LOAD'] ?? '{}');
const url = new URL(order.url);
const body = Buffer.from(order.body ?? '');
const head = headOf(url, order.body === null ? 'GET' : 'POST', { ...order.headers, 'content-length': body.length });
const request = Buffer.concat([head, body]);

const latenciesUs: number[] = [];
let bad = 0;
const startedAt = performance.now();
const endAt = startedAt + order.seconds * 1_000;

async function client(): Promise<void> {
  let sentAt = 0;
  const sending = sendOverSocket(url, (status) => {
    const now = performance.now();
    if (status !== null) {
      latenciesUs.push((now - sentAt) * 1_000);
      if (status !== order.expectedStatus) bad += 1;
    }
    sentAt = now;
    return status === null || now < endAt ? request : null;
  });
  await sending.catch(() => (bad += 1));
}

await Promise.all(Array.from({ length: order.connections }, client));
const elapsedUs = (performance.now() - startedAt) * 1_000;
const sorted = latenciesUs.toSorted((a, b) => a - b);
const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)] ?? 0;
const report: LoadReport = { requests: sorted.length, elapsedUs, p50Us: at(0.5), p99Us: at(0.99), maxUs: at(1), bad };
console.log(JSON.stringify(report));

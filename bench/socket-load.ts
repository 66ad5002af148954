// Load from one Node process over bare keep-alive sockets, for machines without wrk. Prints one line of JSON.
//   LOAD='{"url":…,"headers":{…},"body":…,"connections":16,"seconds":3}' node bench/socket-load.ts
import { connect } from 'node:net';
import type { LoadOrder, LoadReport } from './load.ts';

const order: LoadOrder = JSON.parse(process.env['LOAD'] ?? '{}');
const { hostname, port, pathname, search } = new URL(order.url);
const body = Buffer.from(order.body ?? '');
const method = order.body === null ? 'GET' : 'POST';
const headers = Object.entries({ ...order.headers, host: hostname, 'content-length': String(body.length) })
  .map(([name, value]) => `${name}: ${value}\r\n`)
  .join('');
const request = Buffer.concat([Buffer.from(`${method} ${pathname}${search} HTTP/1.1\r\n${headers}\r\n`), body]);
const LAST_CHUNK = Buffer.from('0\r\n\r\n');

const latenciesUs: number[] = [];
let bad = 0;
const begun = performance.now();
const endAt = begun + order.seconds * 1_000;

/** Bytes still to come of the answer a buffer begins; -1 when only its last chunk will tell. */
function lengthOf(answer: Buffer): number | null {
  const headEnd = answer.indexOf('\r\n\r\n');
  if (headEnd < 0) return null;
  const length = /\r\ncontent-length: *(\d+)/i.exec(answer.toString('latin1', 0, headEnd))?.[1];
  return length === undefined ? -1 : headEnd + 4 + Number(length);
}

function client(): Promise<void> {
  return new Promise((resolve) => {
    let answer: Buffer = Buffer.alloc(0);
    let sentAt = 0;
    const socket = connect({ host: hostname, port: Number(port), noDelay: true });
    const send = (): void => {
      answer = Buffer.alloc(0);
      sentAt = performance.now();
      socket.write(request);
    };
    socket.on('connect', send);
    socket.on('error', () => {
      bad += 1;
      resolve();
    });
    socket.on('data', (data: Buffer) => {
      answer = answer.length === 0 ? data : Buffer.concat([answer, data]);
      const length = lengthOf(answer);
      if (length === null) return;
      if (length >= 0 ? answer.length < length : !answer.subarray(-5).equals(LAST_CHUNK)) return;
      if (!answer.subarray(9, 12).equals(Buffer.from(String(order.expectedStatus)))) bad += 1;
      latenciesUs.push((performance.now() - sentAt) * 1_000);
      if (performance.now() < endAt) return send();
      socket.destroy();
      resolve();
    });
  });
}

await Promise.all(Array.from({ length: order.connections }, client));
const elapsedUs = (performance.now() - begun) * 1_000;
const sorted = latenciesUs.toSorted((a, b) => a - b);
const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)] ?? 0;
const report: LoadReport = { requests: sorted.length, elapsedUs, p50Us: at(0.5), p99Us: at(0.99), maxUs: at(1), bad };
console.log(JSON.stringify(report));

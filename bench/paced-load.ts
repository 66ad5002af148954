// Reads streams from one Node process over bare sockets, one stream at a time on each connection. The fake upstream
// sends a chunk every 10 ms. Each chunk contains its time of sending between two `T`, in ns of the system's monotonic
// clock. Prints one line of JSON.
//   LOAD='{"url":…,"headers":{…},"body":…,"connections":16,"seconds":5}' node bench/paced-load.ts
import { connect } from 'node:net';
import type { LoadOrder } from './load.ts';
import type { PacedReport } from './paced.ts';

const order: LoadOrder = JSON.parse(process.env['LOAD'] ?? '{}');
const { hostname, port, pathname } = new URL(order.url);
const body = Buffer.from(order.body ?? '');
const headers = Object.entries({ ...order.headers, host: hostname, 'content-length': String(body.length) })
  .map(([name, value]) => `${name}: ${value}\r\n`)
  .join('');
const request = Buffer.concat([Buffer.from(`POST ${pathname} HTTP/1.1\r\n${headers}\r\n`), body]);
const STAMP = /T(\d{12,20})T/g;
/** Number of chunks of a stream of the upstream. */
const CHUNKS = 50;

const delaysUs: number[] = [];
const firstUs: number[] = [];
let [streams, lost, disordered] = [0, 0, 0];
const endAt = performance.now() + order.seconds * 1_000;

function client(startAfterMs: number): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect({ host: hostname, port: Number(port), noDelay: true });
    let [received, last, rest] = [0, 0n, ''];
    const send = (): void => {
      [received, last, rest] = [0, 0n, ''];
      socket.write(request);
    };
    const end = (): void => {
      streams += 1;
      lost += CHUNKS - received;
      if (performance.now() < endAt) return send();
      socket.destroy();
      resolve();
    };
    socket.on('connect', () => setTimeout(send, startAfterMs));
    socket.on('error', () => {
      lost += CHUNKS - received;
      resolve();
    });
    socket.on('data', (data: Buffer) => {
      const now = process.hrtime.bigint();
      const text = rest + data.toString('latin1');
      let read = 0;
      for (const match of text.matchAll(STAMP)) {
        const sent = BigInt(match[1] ?? 0);
        const us = Number(now - sent) / 1_000;
        (received === 0 ? firstUs : delaysUs).push(us);
        if (sent < last) disordered += 1;
        last = sent;
        received += 1;
        read = match.index + match[0].length;
      }
      // Keeps the start of a stamp whose end is in the next data. A stamp has at most 22 characters.
      rest = text.slice(Math.max(read, text.length - 64));
      if (text.endsWith('0\r\n\r\n')) end();
    });
  });
}

// Starts are spread over the 10 ms between two chunks, so that chunks of many streams do not arrive at the same time.
await Promise.all(Array.from({ length: order.connections }, (_, index) => client((index * 10) / order.connections)));
const at = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.max(0, Math.ceil(values.length * share) - 1)] ?? Number.NaN;
const report: PacedReport = {
  streams,
  chunks: delaysUs.length + firstUs.length,
  lost,
  disordered,
  p50Us: at(delaysUs, 0.5),
  p99Us: at(delaysUs, 0.99),
  firstP50Us: at(firstUs, 0.5),
};
console.log(JSON.stringify(report));

import { connect } from 'node:net';

const LAST_CHUNK = Buffer.from('0\r\n\r\n');

/** Length of a whole answer, head included; -1 for a chunked answer, null while the received head is incomplete. */
function lengthOf(answer: Buffer): number | null {
  const headEnd = answer.indexOf('\r\n\r\n');
  if (headEnd < 0) return null;
  const length = /\r\ncontent-length: *(\d+)/i.exec(answer.toString('latin1', 0, headEnd))?.[1];
  return length === undefined ? -1 : headEnd + 4 + Number(length);
}

/** Head of a request. */
export function headOf(url: URL, method: string, headers: Readonly<Record<string, string | number>>): Buffer {
  const lines = Object.entries({ host: url.host, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`${method} ${url.pathname}${url.search} HTTP/1.1\r\n${lines.join('')}\r\n`);
}

/**
 * Sends one request after the other over one keep-alive connection. The cost is minimal, because the sender may share
 * cores with the measured process. `next` gets null, then the status of each answer. It returns the next request, and
 * null at the end. Rejects when the connection fails.
 */
export function sendOverSocket(url: URL, next: (status: number | null) => Buffer | null): Promise<void> {
  return new Promise((resolve, reject) => {
    let answer: Buffer = Buffer.alloc(0);
    const socket = connect({ host: url.hostname, port: Number(url.port), noDelay: true });
    function send(status: number | null): void {
      answer = Buffer.alloc(0);
      const request = next(status);
      if (request !== null) return void socket.write(request);
      socket.destroy();
      resolve();
    }
    socket.on('connect', () => send(null));
    socket.on('error', reject);
    socket.on('end', () => reject(new Error(`${url.host} has closed a connection.`)));
    socket.on('data', (data: Buffer) => {
      answer = answer.length === 0 ? data : Buffer.concat([answer, data]);
      const length = lengthOf(answer);
      if (length === null) return;
      if (length >= 0 ? answer.length < length : !answer.subarray(-LAST_CHUNK.length).equals(LAST_CHUNK)) return;
      // The status follows `HTTP/1.1 `.
      send(Number(answer.toString('latin1', 9, 12)));
    });
  });
}

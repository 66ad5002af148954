// Upper bound of ingest in one thread: accepts an export, inflates it, reads every span and stores nothing.
//   node bench/otlp-sink.ts <port>
import { createServer } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { decodeExport } from '../src/wire/otlp/decode.ts';

let spans = 0;
createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    if (request.method === 'POST')
      spans += decodeExport(gunzipSync(Buffer.concat(chunks)), 'application/x-protobuf').length;
    response.end(request.method === 'POST' ? '' : String(spans));
  });
}).listen(Number(process.argv[2]), '127.0.0.1');

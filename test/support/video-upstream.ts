import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

type Json = Readonly<Record<string, unknown>>;

interface ReceivedVideo {
  readonly method: string;
  readonly path: string;
  readonly search: string;
  readonly authorization: string | undefined;
  readonly contentType: string | undefined;
  readonly body: string;
}

/** Loopback upstream with OpenAI's API of videos. Jobs are kept in memory. */
export interface VideoUpstream {
  readonly url: string;
  readonly received: readonly ReceivedVideo[];
  /** Ids of all jobs, oldest first. */
  ids(): readonly string[];
  stop(): Promise<void>;
}

const failure = (status: number, message: string): readonly [number, Json] => [
  status,
  { error: { message, type: 'invalid_request_error', param: null, code: null } },
];

/** The value of a field of a multipart form. */
const fieldOf = (body: string, name: string): string | undefined =>
  new RegExp(`name="${name}"\\r\\n\\r\\n([^\\r]*)`).exec(body)?.[1];

const jsonOf = (body: string): Json => (body === '' ? {} : (JSON.parse(body) as Json));

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/**
 * Starts the upstream on a free loopback port. The first read of a job completes the job. A prompt can change this:
 * `status:<status>` refuses the request, `failed` starts a failed job, and a job of `broken` cannot be read. A request
 * with `no answer` is not answered. A request with `half` gets the first byte of an answer.
 */
export async function startVideoUpstream(): Promise<VideoUpstream> {
  const received: ReceivedVideo[] = [];
  const videos = new Map<string, Json>();
  let count = 0;

  /** Status and body of a request for a job. */
  function start(sent: Json, more: Json = {}): readonly [number, Json] {
    const prompt = textOf(sent['prompt']);
    const refused = /^status:(\d+)/.exec(prompt)?.[1];
    if (refused !== undefined) return failure(Number(refused), 'refused');
    count += 1;
    const id = `video_up${count}`;
    const status = prompt === 'failed' ? 'failed' : 'queued';
    const { model = 'sora-2', seconds = '4', size = '720x1280' } = sent;
    const video = { id, object: 'video', model, status, progress: 0, seconds, size, prompt, ...more };
    videos.set(id, video);
    return [200, video];
  }

  function answer(call: ReceivedVideo): readonly [number, Json | Buffer] {
    const [, , kind, id = '', end] = call.path.split('/').map(decodeURIComponent);
    if (kind === 'files') return [200, { id: 'file-up1', object: 'file', purpose: 'user_data', bytes: 1 }];
    const isForm = call.contentType?.startsWith('multipart/') === true;
    const names = ['prompt', 'model', 'seconds', 'size'];
    const fields = names.flatMap((name) => {
      const value = fieldOf(call.body, name);
      return value === undefined ? [] : [[name, value] as const];
    });
    const sent: Json = isForm ? Object.fromEntries(fields) : jsonOf(call.body);
    if (id === '') return start(sent);
    const video = videos.get(id);
    if (video === undefined) return failure(404, `Video with id '${id}' not found.`);
    if (video['prompt'] === 'broken') return failure(500, 'broken');
    if (end === 'remix') {
      const { model, seconds, size } = video;
      return start({ ...sent, model, seconds, size }, { remixed_from_video_id: id });
    }
    if (end === 'content') return [200, Buffer.from([0, 1, 2, 255])];
    if (call.method === 'DELETE') {
      videos.delete(id);
      return [200, { id, object: 'video.deleted', deleted: true }];
    }
    if (video['status'] === 'queued') videos.set(id, { ...video, status: 'completed', progress: 100 });
    return [200, videos.get(id) ?? {}];
  }

  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => void chunks.push(chunk));
    request.on('end', () => {
      const { pathname, search } = new URL(request.url ?? '/', 'http://127.0.0.1');
      const { authorization, 'content-type': contentType } = request.headers;
      const body = Buffer.concat(chunks).toString('latin1');
      const call = { method: request.method ?? '', path: pathname, search, authorization, contentType, body };
      received.push(call);
      if (body.includes('"no answer"')) return;
      const [status, value] = answer(call);
      const isBinary = value instanceof Buffer;
      response.writeHead(status, { 'content-type': isBinary ? 'video/mp4' : 'application/json' });
      if (body.includes('"half"')) response.write('{');
      else response.end(isBinary ? value : JSON.stringify(value));
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    ids: () => [...videos.keys()],
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

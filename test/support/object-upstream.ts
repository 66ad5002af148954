import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

type Json = Readonly<Record<string, unknown>>;
type Answer = readonly [status: number, body: Json | Buffer | null];

interface ReceivedCall {
  readonly method: string;
  readonly path: string;
  readonly search: string;
  readonly authorization: string | undefined;
  readonly contentType: string | undefined;
  readonly body: string;
}

/** An upstream with OpenAI's APIs of files, containers, fine-tuning and evaluations, in memory. */
export interface ObjectUpstream {
  readonly url: string;
  readonly received: readonly ReceivedCall[];
  /** Ids of all objects that are stored. */
  ids(): readonly string[];
  /** Replaces members of an object, as an upstream does when it knows more about it. */
  update(id: string, members: Json): void;
  /** Removes an object, as an upstream does when it expires. */
  expire(id: string): void;
  stop(): Promise<void>;
}

const failure = (status: number, message: string): Answer => [
  status,
  { error: { message, type: 'invalid_request_error', param: null, code: null } },
];

const page = (data: readonly Json[]): Json => ({
  object: 'list',
  data,
  first_id: data[0]?.['id'] ?? null,
  last_id: data.at(-1)?.['id'] ?? null,
  has_more: false,
});

/** Status of a job after each action. */
const JOB_STATES: Readonly<Record<string, string>> = { cancel: 'cancelled', pause: 'paused', resume: 'queued' };

/**
 * Starts the upstream on a free loopback port. A new object with the name or suffix `status:<n>` is refused with that
 * status. An object with the name or suffix `broken` cannot be read.
 */
export async function startObjectUpstream(): Promise<ObjectUpstream> {
  const received: ReceivedCall[] = [];
  const objects = new Map<string, Json>();
  let count = 0;
  const nextId = (prefix: string): string => {
    count += 1;
    return `${prefix}up${String(count).padStart(12, '0')}`;
  };
  const put = (object: Json): Answer => {
    objects.set(String(object['id']), object);
    return [200, object];
  };

  function create(kind: string, sent: Json): Answer {
    const label = sent['name'] ?? sent['suffix'];
    const refused = /^status:(\d+)/.exec(typeof label === 'string' ? label : '')?.[1];
    if (refused !== undefined) return failure(Number(refused), 'refused');
    if (kind === 'containers') {
      const { name, file_ids: ids = [] } = sent;
      return put({ id: nextId('cntr_'), object: 'container', created_at: 1, status: 'running', name, sent_ids: ids });
    }
    if (kind === 'batches') {
      const { input_file_id: input, endpoint } = sent;
      return put({
        id: nextId('batch_'),
        object: 'batch',
        created_at: 1,
        status: 'validating',
        endpoint,
        input_file_id: input,
      });
    }
    if (kind === 'evals') {
      const { name, data_source_config: config, testing_criteria: criteria } = sent;
      return put({
        id: nextId('eval_'),
        object: 'eval',
        created_at: 1,
        name,
        data_source_config: config,
        testing_criteria: criteria,
      });
    }
    const { model, training_file: training, validation_file: validation = null, suffix = null } = sent;
    return put({
      id: nextId('ftjob-'),
      object: 'fine_tuning.job',
      created_at: 1,
      status: 'queued',
      model,
      training_file: training,
      validation_file: validation,
      result_files: [],
      suffix,
    });
  }

  function containerFiles(container: string, { method, body }: ReceivedCall, [file, end]: readonly string[]): Answer {
    const own = [...objects.values()].filter((one) => one['container_id'] === container);
    if (file === undefined && method === 'GET') return [200, page(own)];
    if (file === undefined)
      return put({
        id: nextId('cfile_'),
        object: 'container.file',
        container_id: container,
        created_at: 1,
        bytes: 3,
        path: 'data/a.txt',
        source: body.includes('filename="') ? 'user' : String((JSON.parse(body) as Json)['file_id']),
      });
    const found = own.find(({ id }) => id === file);
    if (found === undefined) return failure(404, 'No such file');
    if (method === 'DELETE') {
      objects.delete(file);
      return [200, { id: file, object: 'container.file.deleted', deleted: true }];
    }
    return [200, end === 'content' ? Buffer.from([0, 1, 2, 255]) : found];
  }

  function aboutJob(job: Json, end: string | undefined): Answer {
    const id = String(job['id']);
    const state = JOB_STATES[end ?? ''];
    if (state !== undefined) return put({ ...job, status: state });
    if (end === 'events') {
      const message = `Created fine-tuning job: ${id}`;
      return [200, page([{ id: 'ftevent-1', object: 'fine_tuning.job.event', created_at: 1, level: 'info', message }])];
    }
    if (end === 'checkpoints') {
      const checkpoint = { id: 'ftckpt_1', object: 'fine_tuning.job.checkpoint', created_at: 1, step_number: 1 };
      return [200, page([{ ...checkpoint, fine_tuning_job_id: id, fine_tuned_model_checkpoint: 'ft:x', metrics: {} }])];
    }
    const done = { ...job, status: 'succeeded', result_files: [`file-result-of-${id}`], fine_tuned_model: 'ft:x' };
    return job['suffix'] === 'ends' ? put(done) : [200, job];
  }

  function aboutEval(evaluation: Json, call: ReceivedCall, [runs, runId, end, itemId]: readonly string[]): Answer {
    const id = String(evaluation['id']);
    if (runs === undefined) {
      if (call.method === 'GET') return [200, evaluation];
      if (call.method === 'POST') return put({ ...evaluation, ...(JSON.parse(call.body) as Json) });
      objects.delete(id);
      return [200, { object: 'eval.deleted', deleted: true, eval_id: id }];
    }
    if (runId === undefined) {
      const { name, data_source: data } = JSON.parse(call.body) as Json;
      const refused = /^status:(\d+)/.exec(String(name))?.[1];
      if (refused !== undefined) return failure(Number(refused), 'refused');
      const run = { id: nextId('evalrun_'), object: 'eval.run', eval_id: id, created_at: 1, name, data_source: data };
      return put({ ...run, status: 'queued', per_model_usage: null, report_url: `https://report.test/${id}` });
    }
    const run = objects.get(runId);
    if (run === undefined) return failure(404, `${runId} not found`);
    if (run['name'] === 'broken') return failure(500, 'broken');
    const item = { id: 'outputitem_1', object: 'eval.run.output_item', eval_id: id, run_id: runId, status: 'pass' };
    if (end === 'output_items') return [200, itemId === undefined ? page([item]) : { ...item, id: itemId }];
    // The usage of a cancelled run with the name `late` is not known yet.
    const usage = run['name'] === 'late' ? null : [];
    if (end === 'cancel') return put({ ...run, status: 'canceled', per_model_usage: usage });
    if (call.method === 'DELETE') {
      objects.delete(runId);
      return [200, { object: 'eval.run.deleted', deleted: true, run_id: runId }];
    }
    if (run['name'] !== 'ends') return [200, run];
    const used = (model: string, prompt: number, completion: number): Json => ({
      model_name: model,
      invocation_count: 2,
      prompt_tokens: prompt,
      completion_tokens: completion,
      cached_tokens: 0,
      total_tokens: prompt + completion,
    });
    return put({
      ...run,
      status: 'completed',
      per_model_usage: [used('tiny-1', 1000, 100), used('judge-1', 2000, 10)],
    });
  }

  /**
   * A response. A tool with `container: {type: auto}` runs in a new container, or in that of `metadata.ran_in`, as
   * where an earlier item ran in it. A background response stays queued, also in a stream, which then ends early.
   */
  function respond({ tools = [], metadata = {}, stream, background, model }: Json): Answer {
    const isAuto = (tools as readonly Json[]).some(({ container }) => typeof container === 'object');
    const { ran_in: earlier } = metadata as Json;
    const container = typeof earlier === 'string' ? earlier : nextId('cntr_');
    if (isAuto && container !== earlier)
      put({ id: container, object: 'container', created_at: 1, status: 'running', name: 'auto' });
    const item = { id: 'ci_1', type: 'code_interpreter_call', status: 'completed', code: '1', container_id: container };
    const output = isAuto ? [item] : [];
    const repeated = { metadata, tools };
    const response = { id: nextId('resp_'), object: 'response', status: 'completed', model, ...repeated, output };
    const queued = { ...response, status: 'queued', background: true, output: [], usage: null };
    put(background === true ? queued : response);
    if (stream !== true) return [200, background === true ? queued : response];
    const events = [
      { type: 'response.created', response: background === true ? queued : { ...response, output: [] } },
      ...output.map((one) => ({ type: 'response.output_item.added', output_index: 0, item: one })),
      ...(background === true ? [] : [{ type: 'response.completed', response }]),
    ];
    return [200, Buffer.from(events.map((one) => `event: ${one.type}\ndata: ${JSON.stringify(one)}\n\n`).join(''))];
  }

  function answer(call: ReceivedCall): Answer {
    const [, , ...segments] = call.path.split('/').map(decodeURIComponent);
    const [kind = '', ...rest] = segments[0] === 'fine_tuning' ? segments.slice(1) : segments;
    const [id, part, ...more] = rest;
    if (kind === 'files' && call.method === 'POST')
      return put({ id: nextId('file-'), object: 'file', purpose: 'fine-tune', bytes: 3, filename: 'a.jsonl' });
    if (kind === 'files') return [200, Buffer.from('step,loss\n')];
    if (kind === 'responses' && id === undefined) return respond(JSON.parse(call.body) as Json);
    if (id === undefined) return create(kind, JSON.parse(call.body) as Json);
    const object = objects.get(id);
    if (object === undefined) return failure(404, `${id} not found`);
    if (object['name'] === 'broken' || object['suffix'] === 'broken') return failure(500, 'broken');
    if (kind === 'jobs') return aboutJob(object, part);
    if (kind === 'evals') return aboutEval(object, call, rest.slice(1));
    if (part === 'files') return containerFiles(id, call, more);
    if (call.method !== 'DELETE') return [200, object];
    objects.delete(id);
    if (kind === 'responses') return [200, { id, object: 'response', deleted: true }];
    return object['name'] === 'bare' ? [200, null] : [200, { id, object: 'container.deleted', deleted: true }];
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
      const [status, value] = answer(call);
      const isBinary = value instanceof Buffer;
      const binaryType = pathname.endsWith('/responses') ? 'text/event-stream' : 'application/octet-stream';
      response.writeHead(status, { 'content-type': isBinary ? binaryType : 'application/json' });
      response.end(value === null || isBinary ? (value ?? '') : JSON.stringify(value));
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    ids: () => [...objects.keys()],
    update: (id, members) => void objects.set(id, { ...objects.get(id), ...members }),
    expire: (id) => void objects.delete(id),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

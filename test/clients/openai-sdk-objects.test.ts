import OpenAI, { toFile } from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ObjectUpstream, startObjectUpstream } from '../support/object-upstream.ts';
import { startApp, type TestApp } from '../support/start-app.ts';

let app: TestApp;
let upstream: ObjectUpstream;
let openai: OpenAI;
let stranger: OpenAI;

async function newClient(): Promise<OpenAI> {
  const made = await app.call('POST', '/key/generate', {});
  const { key } = (await made.json()) as { readonly key: string };
  return new OpenAI({ apiKey: key, baseURL: `${app.url}/v1`, maxRetries: 0 });
}

beforeAll(async () => {
  upstream = await startObjectUpstream();
  const params = { model: 'openai/tiny-1', api_base: `${upstream.url}/v1`, api_key: 'k' };
  app = await startApp({ config: { model_list: [{ model_name: 'tiny', litellm_params: params }] } });
  openai = await newClient();
  stranger = await newClient();
});
afterAll(async () => {
  await app.stop();
  await upstream.stop();
});

const newFile = async () =>
  await openai.files.create({ purpose: 'fine-tune', file: await toFile(Buffer.from('{}\n'), 'a.jsonl') });

describe('containers of the official SDK', () => {
  it('are created with a file, filled, read, listed and deleted', async () => {
    const file = await newFile();
    const container = await openai.containers.create({ name: 'box', file_ids: [file.id] });
    expect(container).toMatchObject({ object: 'container', name: 'box', status: 'running' });
    const { id } = container;
    const uploaded = await openai.containers.files.create(id, { file: await toFile(Buffer.from('abc'), 'a.txt') });
    expect(uploaded).toMatchObject({ object: 'container.file', container_id: id });
    const added = await openai.containers.files.create(id, { file_id: file.id });
    const files = await Array.fromAsync(openai.containers.files.list(id));
    expect(files.map((one) => one.id)).toEqual([uploaded.id, added.id]);
    expect(await openai.containers.files.retrieve(uploaded.id, { container_id: id })).toMatchObject({ bytes: 3 });
    const content = await openai.containers.files.content.retrieve(uploaded.id, { container_id: id });
    expect([...new Uint8Array(await content.arrayBuffer())]).toEqual([0, 1, 2, 255]);
    await openai.containers.files.delete(uploaded.id, { container_id: id });
    expect(await Array.fromAsync(openai.containers.files.list(id))).toHaveLength(1);
    const second = await openai.containers.create({ name: 'second' });
    const listed = await Array.fromAsync(openai.containers.list({ limit: 1 }));
    expect(listed.map((one) => one.id)).toEqual([second.id, id]);
    expect(await Array.fromAsync(stranger.containers.list())).toEqual([]);
    await expect(stranger.containers.retrieve(id)).rejects.toMatchObject({ status: 404 });
    await openai.containers.delete(id);
    await expect(openai.containers.retrieve(id)).rejects.toMatchObject({ status: 404 });
  });
});

describe('fine-tuning jobs of the official SDK', () => {
  it('are started, read, paused, resumed, cancelled and listed', async () => {
    const file = await newFile();
    const { jobs } = openai.fineTuning;
    const job = await jobs.create({ model: 'tiny', training_file: file.id });
    expect(job).toMatchObject({ object: 'fine_tuning.job', status: 'queued', training_file: file.id });
    expect(await jobs.retrieve(job.id)).toMatchObject({ id: job.id, model: 'tiny-1' });
    const events = await Array.fromAsync(jobs.listEvents(job.id));
    expect(events.map(({ message }) => message)).toEqual([`Created fine-tuning job: ${job.id}`]);
    const checkpoints = await Array.fromAsync(jobs.checkpoints.list(job.id));
    expect(checkpoints.map((one) => one.fine_tuning_job_id)).toEqual([job.id]);
    expect(await jobs.pause(job.id)).toMatchObject({ status: 'paused' });
    expect(await jobs.resume(job.id)).toMatchObject({ status: 'queued' });
    expect(await jobs.cancel(job.id)).toMatchObject({ status: 'cancelled' });
    expect((await Array.fromAsync(jobs.list())).map(({ id }) => id)).toEqual([job.id]);
    expect(await Array.fromAsync(stranger.fineTuning.jobs.list())).toEqual([]);
    await expect(stranger.fineTuning.jobs.retrieve(job.id)).rejects.toMatchObject({ status: 404 });
  });
});

describe('evaluations of the official SDK', () => {
  it('are created, changed, run, read and deleted', async () => {
    const evaluation = await openai.evals.create({
      name: 'sums',
      data_source_config: { type: 'custom', item_schema: { type: 'object' } },
      testing_criteria: [
        { type: 'string_check', name: 'equal', input: '{{sample.output_text}}', operation: 'eq', reference: '2' },
      ],
    });
    const { id } = evaluation;
    expect(evaluation).toMatchObject({ object: 'eval', name: 'sums' });
    expect(await openai.evals.update(id, { name: 'additions' })).toMatchObject({ id, name: 'additions' });
    expect((await Array.fromAsync(openai.evals.list())).map((one) => one.id)).toEqual([id]);
    const run = await openai.evals.runs.create(id, {
      name: 'ends',
      data_source: { type: 'completions', model: 'tiny', source: { type: 'file_content', content: [{ item: {} }] } },
    });
    expect(run).toMatchObject({ object: 'eval.run', eval_id: id, status: 'queued' });
    expect(await openai.evals.runs.retrieve(run.id, { eval_id: id })).toMatchObject({ status: 'completed' });
    expect((await Array.fromAsync(openai.evals.runs.list(id))).map((one) => one.id)).toEqual([run.id]);
    const [item] = await Array.fromAsync(openai.evals.runs.outputItems.list(run.id, { eval_id: id }));
    expect(item).toMatchObject({ eval_id: id, run_id: run.id });
    const read = await openai.evals.runs.outputItems.retrieve(item?.id ?? '', { eval_id: id, run_id: run.id });
    expect(read).toEqual(item);
    const second = await openai.evals.runs.create(id, {
      data_source: { type: 'jsonl', source: { type: 'file_id', id: (await newFile()).id } },
    });
    expect(await openai.evals.runs.cancel(second.id, { eval_id: id })).toMatchObject({ status: 'canceled' });
    expect(await openai.evals.runs.delete(second.id, { eval_id: id })).toMatchObject({ deleted: true });
    await expect(stranger.evals.retrieve(id)).rejects.toMatchObject({ status: 404 });
    expect(await openai.evals.delete(id)).toMatchObject({ deleted: true, eval_id: id });
  });
});

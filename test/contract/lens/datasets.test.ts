import { beforeAll, describe, expect, it } from 'vitest';
import { syntheticRuns } from '../../../bench/lens/runs.ts';
import { aLens, lensClient, type WireLens } from '../../support/lens-client.ts';
import type { Json } from '../../support/tenancy-client.ts';

const { send, app, key, ingest, create, untilRunEnds } = lensClient({ slots: 1 });
const AGENT_RUNS = syntheticRuns(6, 5);
const PATH = '/lens/datasets';

const detail = (status: number, text: unknown) => ({ status, body: { detail: text } });
const DATASET_NOT_FOUND = detail(404, 'Dataset not found');
const issue = (type: string, loc: readonly (string | number)[], msg: string) => ({ type, loc: ['body', ...loc], msg });
/** Matches the id of a case with the text `hi`. The id is a hash of the messages and the answer. */
const ID_OF_HI = /^d9045d43.*d3ad$/;

const aCase = (content: string, members: object = {}) => ({ messages: [{ role: 'user', content }], ...members });
const noSource = { trace_id: '', trace_ref: '', span_id: '', finding_id: '', lens_id: '' };

async function newDataset(name: string): Promise<string> {
  return String((await send('POST', PATH, { name })).body['id']);
}

const buildCases = (sources: readonly object[], members: object = {}) =>
  send('POST', `${PATH}/build`, { sources, ...members });

let lens: WireLens;
beforeAll(async () => {
  await ingest(AGENT_RUNS);
  lens = await untilRunEnds((await create(aLens())).id);
});

describe('datasets', () => {
  it('lens.createDataset, lens.datasets, lens.saveDataset, lens.dataset, lens.datasetCases, lens.exportDataset 200: a dataset with two revisions', async () => {
    const created = await send('POST', PATH, { name: 'first', agent_name: 'shop' });
    const fields = {
      id: expect.any(String),
      name: 'first',
      agent_name: 'shop',
      team_id: '',
      created_at: expect.stringMatching(/Z$/),
      created_by: 'default_user_id',
    };
    expect(created).toEqual({ status: 200, body: { ...fields, revision: 0, cases: [] } });
    const id = String(created.body['id']);
    const cases = [aCase('hi', { id: 'ignored' }), aCase('hi'), aCase('no', { included: false, expected: 'x' })];
    const saved = await send('POST', `${PATH}/${id}/revisions`, { base_revision: 0, cases });
    const first = {
      id: expect.stringMatching(ID_OF_HI),
      messages: [{ role: 'user', content: 'hi', name: '', tool_calls: [] }],
      reply: '',
      tool_calls: [],
      expected: '',
      included: true,
      source: noSource,
      agent_version: '',
    };
    const second = {
      ...first,
      id: expect.stringMatching(/^[0-9a-f]{64}$/),
      messages: [{ role: 'user', content: 'no', name: '', tool_calls: [] }],
      expected: 'x',
      included: false,
    };
    expect(saved).toEqual({ status: 200, body: { ...fields, revision: 1, cases: [first, second] } });
    expect((await send('GET', `${PATH}/${id}`)).body).toEqual(saved.body);
    expect((await send('GET', `${PATH}/${id}?revision=0`)).body['cases']).toEqual([]);
    expect((await send('GET', PATH)).body).toEqual([
      { id, name: 'first', agent_name: 'shop', revision: 1, case_count: 2, updated_at: expect.any(String) },
    ]);
    expect((await send('GET', `${PATH}/${id}/revisions/1/cases`)).body).toEqual({
      dataset_id: id,
      revision: 1,
      cases: [first],
    });
    const file = await app().call('GET', `${PATH}/${id}/export?revision=1`);
    expect(file.headers.get('content-disposition')).toBe(`attachment; filename="dataset-${id}-r1.jsonl"`);
    expect(file.headers.get('content-type')).toBe('application/x-ndjson');
    expect(
      (await file.text())
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as Json),
    ).toEqual([first]);
  });

  it('lens.saveDataset 409: only one of concurrent saves of the same revision is stored', async () => {
    const id = await newDataset('raced');
    const save = (text: string) => send('POST', `${PATH}/${id}/revisions`, { base_revision: 0, cases: [aCase(text)] });
    const answers = await Promise.all([save('a'), save('b'), save('c')]);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(2);
    expect(await save('d')).toEqual(detail(409, 'Dataset changed, reload'));
    expect((await send('GET', `${PATH}/${id}`)).body['revision']).toBe(1);
  });

  it('lens.buildDataset 200: builds cases from traces, findings and texts', async () => {
    const [run] = AGENT_RUNS;
    const fromTrace = (await buildCases([{ kind: 'trace', trace_id: run?.traceId }])).body;
    expect(fromTrace).toMatchObject({ skipped: [], cases: [{ source: { trace_id: run?.traceId }, included: true }] });
    const ids = lens.findings.map(({ id }) => id);
    const fromFindings = (await buildCases([{ kind: 'finding', lens_id: lens.id, finding_ids: [...ids, 'none'] }]))
      .body as {
      readonly cases: readonly Json[];
      readonly skipped: readonly Json[];
    };
    // A finding gives one case for each span of its evidence. The unknown finding `none` gives no case.
    const evidenceSpanIds = new Set(lens.findings.flatMap(({ evidence }) => evidence.map(({ span_id }) => span_id)));
    expect(evidenceSpanIds.size).toBeGreaterThan(0);
    expect(fromFindings.cases.length + fromFindings.skipped.length).toBe(evidenceSpanIds.size);
    for (const { source } of [...fromFindings.cases, ...fromFindings.skipped])
      expect(source).toMatchObject({ lens_id: lens.id });
    const lines = [
      '{"messages":[{"role":"user","content":"one"}],"more":1,"included":false}',
      '{"messages":[]}',
      '{"messages":[{"content":"x"}]}',
      '{',
    ].join('\n');
    const texts = ['hi', 'hi', '  ', lines, 'a'.repeat(20_001)].map((text) => ({ kind: 'text', text }));
    // The skipped texts are in the order of `texts`, and of the lines within a text.
    expect((await buildCases(texts)).body).toMatchObject({
      cases: [{ messages: [{ content: 'hi' }] }, { messages: [{ content: 'one' }], included: true }],
      skipped: [
        { source: noSource, reason: 'duplicate' },
        { source: noSource, reason: 'no_content' },
        { source: noSource, reason: 'no_content' },
        { source: noSource, reason: 'invalid' },
        { source: noSource, reason: 'invalid' },
        { source: noSource, reason: 'too_large' },
      ],
    });
    expect((await buildCases([{ kind: 'trace', trace_id: 'a'.repeat(32) }])).body).toMatchObject({
      cases: [],
      skipped: [{ source: { trace_id: 'a'.repeat(32) }, reason: 'no_content' }],
    });
  });

  it('lens.saveDataset 422, lens.buildDataset 200: a dataset has at most 200 cases, each of at most 20,000 characters', async () => {
    const id = await newDataset('full');
    const cases = Array.from({ length: 200 }, (_one, index) => aCase(`c${index}`));
    const save = (list: readonly object[]) =>
      send('POST', `${PATH}/${id}/revisions`, { base_revision: 0, cases: list });
    expect(await save([...cases, aCase('more')])).toEqual(detail(422, 'A dataset holds at most 200 cases'));
    expect(await save([aCase('a'.repeat(20_000))])).toEqual(detail(422, 'Each case must be at most 20000 characters'));
    expect((await save(cases)).status).toBe(200);
    const sources = ['c7', 'more'].map((text) => ({ kind: 'text', text }));
    expect((await buildCases(sources, { dataset_id: id })).body).toMatchObject({
      cases: [],
      skipped: [{ reason: 'duplicate' }, { reason: 'over_limit' }],
    });
  });

  it('lens.dataset, lens.saveDataset, lens.exportDataset, lens.datasetCases, lens.buildDataset 404: unknown datasets and revisions', async () => {
    const id = await newDataset('known');
    expect(await send('GET', `${PATH}/none`)).toEqual(DATASET_NOT_FOUND);
    expect(await send('GET', `${PATH}/${id}?revision=1`)).toEqual(DATASET_NOT_FOUND);
    expect(await send('GET', `${PATH}/${id}/export?revision=9`)).toEqual(DATASET_NOT_FOUND);
    expect(await send('GET', `${PATH}/${id}/revisions/x/cases`)).toEqual(DATASET_NOT_FOUND);
    expect(await send('POST', `${PATH}/none/revisions`, { base_revision: 0, cases: [] })).toEqual(DATASET_NOT_FOUND);
    expect(await buildCases([{ kind: 'text', text: 'a' }], { dataset_id: 'none' })).toEqual(DATASET_NOT_FOUND);
  });

  it('lens.createDataset, lens.saveDataset, lens.buildDataset, lens.dataset, lens.exportDataset 422: names each invalid member', async () => {
    expect(await send('POST', PATH, { name: '' })).toEqual(
      detail(422, [issue('string_too_short', ['name'], 'String should have at least 1 character')]),
    );
    expect(await send('POST', `${PATH}/x/revisions`, { base_revision: 0, cases: [{ messages: [], x: 1 }] })).toEqual(
      detail(422, [
        issue('too_short', ['cases', 0, 'messages'], 'List should have at least 1 item after validation, not 0'),
        issue('extra_forbidden', ['cases', 0, 'x'], 'Extra inputs are not permitted'),
      ]),
    );
    expect(await buildCases([{ kind: 'other' }, { kind: 'finding', lens_id: 'l' }])).toEqual(
      detail(422, [
        issue('literal_error', ['sources', 0, 'kind'], "Input should be 'trace', 'finding' or 'text'"),
        issue('missing', ['sources', 1, 'finding_ids'], 'Field required'),
      ]),
    );
    for (const path of [`${PATH}/x?revision=-1`, `${PATH}/x/export?revision=a`])
      expect((await send('GET', path)).status).toBe(422);
  });

  const READS = ['', '/x', '/x/export', '/x/revisions/1/cases'];
  it('lens.datasets, lens.dataset, lens.exportDataset, lens.datasetCases 401 and 403: only administrators may read', async () => {
    const userKey = (await key({})).key;
    for (const path of READS) {
      expect((await send('GET', `${PATH}${path}`, undefined, '')).status).toBe(401);
      expect(await send('GET', `${PATH}${path}`, undefined, userKey)).toEqual(
        detail(403, 'Lens requires proxy administrator access'),
      );
    }
  });

  it('lens.createDataset, lens.saveDataset, lens.buildDataset 401 and 403: only proxy administrators may write', async () => {
    const viewer = (await key({ user_role: 'proxy_admin_viewer' })).key;
    const writes = [
      [PATH, { name: 'n' }],
      [`${PATH}/x/revisions`, { base_revision: 0, cases: [] }],
      [`${PATH}/build`, { sources: [{ kind: 'text', text: 't' }] }],
    ] as const;
    for (const [path, body] of writes) {
      expect((await send('POST', path, body, '')).status).toBe(401);
      expect(await send('POST', path, body, viewer)).toEqual(
        detail(403, 'Only proxy admins can configure or run Lens'),
      );
    }
  });
});

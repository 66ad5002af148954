import { createHash } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { MAX_ANNOTATIONS } from '../../../src/domain/annotations/annotation.ts';
import { exportOf, syntheticRuns } from '../../../bench/lens/runs.ts';
import { aLens, lensClient } from '../../support/lens-client.ts';
import type { Json } from '../../support/tenancy-client.ts';

const { send, app, ingest, key, create, untilRunEnds, judge } = lensClient({ slots: 1 });
const AGENT_RUNS = syntheticRuns(4, 3);
const [FIRST_TRACE, SECOND_TRACE] = AGENT_RUNS.map(({ traceId }) => traceId);

const PATH = '/lens/feedback';
const pathOf = (traceId: string | undefined) => `${PATH}?trace_id=${traceId}`;
const detail = (status: number, text: unknown) => ({ status, body: { detail: text } });
const NO_TRACE = detail(404, 'Trace not found');
const issue = (type: string, loc: readonly string[], msg: string) => ({ type, loc, msg });
const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT/) as string;

beforeAll(() => ingest(AGENT_RUNS));

describe('feedback about traces', () => {
  it('lens.setFeedback, lens.feedback, lens.feedbackSummary 200, lens.deleteFeedback 204: each author has one feedback for a trace', async () => {
    const put = await send('PUT', PATH, { trace_id: FIRST_TRACE, score: 3, comment: 'wrong order', user: 'ann' });
    const stored = { trace_id: FIRST_TRACE, trace_ref: expect.any(String), created_at: time, updated_at: time };
    expect(put).toEqual({ status: 200, body: { ...stored, score: 3, comment: 'wrong order', author: 'ann' } });
    await send('PUT', PATH, { trace_id: FIRST_TRACE?.toUpperCase(), score: '9' });
    const changed = (await send('PUT', PATH, { trace_id: FIRST_TRACE, score: 4, user: 'ann' })).body;
    expect(changed).toMatchObject({ score: 4, comment: '', created_at: put.body['created_at'] });
    const { body } = await send('GET', pathOf(FIRST_TRACE));
    expect(body).toEqual({
      trace_id: FIRST_TRACE,
      trace_ref: put.body['trace_ref'],
      feedback: [
        { ...stored, score: 4, comment: '', author: 'ann' },
        { ...stored, score: 9, comment: '', author: 'default_user_id' },
      ],
    });
    const summary = {
      traces: [{ trace_id: FIRST_TRACE }, { trace_id: SECOND_TRACE }, { trace_id: 'f'.repeat(32), trace_ref: 'x' }],
    };
    expect((await send('POST', `${PATH}/summary`, summary)).body).toEqual([
      { trace_id: FIRST_TRACE, trace_ref: put.body['trace_ref'], count: 2, average: 6.5, lowest: 4 },
      { trace_id: SECOND_TRACE, trace_ref: expect.any(String), count: 0, average: null, lowest: null },
      { trace_id: 'f'.repeat(32), trace_ref: 'x', count: 0, average: null, lowest: null },
    ]);
    const deleted = await app().call('DELETE', `${pathOf(FIRST_TRACE)}&user=ann`);
    expect([deleted.status, await deleted.text()]).toEqual([204, '']);
    expect(await send('DELETE', `${pathOf(FIRST_TRACE)}&user=ann`)).toEqual(
      detail(404, 'No feedback from this user on this trace'),
    );
  });

  it('lens.setFeedback 403, lens.deleteFeedback 403: feedback that its author sent with another key', async () => {
    const [run] = syntheticRuns(1, 17);
    if (run === undefined) throw new Error('No run was made.');
    const { body: team } = await send('POST', '/team/new', { team_alias: 'feedback' });
    const [sender, carol, dave] = await Promise.all(
      [{}, { user_id: 'carol' }, { user_id: 'dave' }].map(
        async (members) => (await key({ team_id: team['team_id'], ...members })).key,
      ),
    );
    expect((await send('POST', '/v1/traces', exportOf([run], Date.now() - 3_600_000), sender)).status).toBe(200);
    const body = { trace_id: run.traceId, score: 2 };
    const refused = detail(403, 'The author of this feedback sent it with another key.');
    // The sender is an application, and `guest` is one of its users. Another key of the team may change this feedback.
    expect((await send('PUT', PATH, { ...body, user: 'guest' }, sender)).status).toBe(200);
    expect((await send('PUT', PATH, { ...body, score: 3, user: 'guest' }, dave)).status).toBe(200);
    expect((await send('PUT', PATH, body, carol)).status).toBe(200);
    expect(await send('PUT', PATH, { ...body, score: 10, user: 'carol' }, dave)).toEqual(refused);
    expect(await send('DELETE', `${pathOf(run.traceId)}&user=carol`, undefined, dave)).toEqual(refused);
    const { feedback } = (await send('GET', pathOf(run.traceId))).body as { readonly feedback: readonly Json[] };
    expect(feedback.map(({ author, score }) => [author, score])).toEqual([
      ['guest', 3],
      ['carol', 2],
    ]);
    expect((await send('PUT', PATH, { ...body, score: 9, user: 'carol' })).status).toBe(200);
  });

  it('lens.setFeedback 200: can name a session, whose trace id is a hash of the session id', async () => {
    const session = 'f3a1';
    const id = createHash('sha256').update(`litellm.claude.session.v1\0${session}`).digest('hex').slice(0, 32);
    const [run] = syntheticRuns(1, 9);
    if (run === undefined) throw new Error('No run was made.');
    await ingest([{ ...run, traceId: id }]);
    expect((await send('PUT', PATH, { session_id: session, score: 1 })).body).toMatchObject({ trace_id: id });
    expect((await send('GET', `${PATH}?session_id=${session}`)).body['feedback']).toHaveLength(1);
  });

  it('lens.feedback, lens.setFeedback, lens.deleteFeedback 404: an unknown trace, an invalid id, and an unknown ref', async () => {
    const body = { score: 1 };
    expect(await send('GET', pathOf('a'.repeat(32)))).toEqual(NO_TRACE);
    expect(await send('PUT', PATH, { ...body, trace_id: 'zz' })).toEqual(NO_TRACE);
    expect(await send('DELETE', pathOf('zz'))).toEqual(NO_TRACE);
    expect(await send('GET', `${pathOf(FIRST_TRACE)}&trace_ref=none`)).toEqual(NO_TRACE);
  });

  it('lens.feedback, lens.setFeedback, lens.deleteFeedback, lens.feedbackSummary 422: names each invalid member', async () => {
    const exactlyOneId = 'Value error, Pass exactly one of trace_id or session_id';
    expect(await send('GET', PATH)).toEqual(detail(422, [issue('value_error', ['query'], exactlyOneId)]));
    expect(await send('DELETE', `${pathOf(FIRST_TRACE)}&session_id=s`)).toEqual(
      detail(422, [issue('value_error', ['query'], exactlyOneId)]),
    );
    expect(await send('GET', `${pathOf(FIRST_TRACE)}&x=1`)).toEqual(
      detail(422, [issue('extra_forbidden', ['query', 'x'], 'Extra inputs are not permitted')]),
    );
    expect(await send('PUT', PATH, { score: 11, comment: 'a'.repeat(10_001) })).toEqual(
      detail(422, [
        issue('less_than_equal', ['body', 'score'], 'Input should be less than or equal to 10'),
        issue('string_too_long', ['body', 'comment'], 'String should have at most 10000 characters'),
      ]),
    );
    expect(await send('PUT', PATH, { score: 1 })).toEqual(detail(422, [issue('value_error', ['body'], exactlyOneId)]));
    expect(await send('POST', `${PATH}/summary`, {})).toEqual(
      detail(422, [issue('missing', ['body', 'traces'], 'Field required')]),
    );
  });

  it('lens.setFeedback, lens.deleteFeedback, lens.feedback, lens.feedbackSummary 401 and 403: keys write feedback about their own traces, and cannot read feedback', async () => {
    const userKey = (await key({})).key;
    const body = { trace_id: SECOND_TRACE, score: 2 };
    const summary = { traces: [{ trace_id: SECOND_TRACE }] };
    const routes = [
      ['PUT', PATH, body],
      ['DELETE', pathOf(SECOND_TRACE), undefined],
      ['GET', pathOf(SECOND_TRACE), undefined],
      ['POST', `${PATH}/summary`, summary],
    ] as const;
    for (const [method, path, payload] of routes) expect((await send(method, path, payload, '')).status).toBe(401);
    expect(await send('PUT', PATH, body, userKey)).toEqual(NO_TRACE);
    const refused = detail(403, 'Lens requires proxy administrator access');
    expect(await send('GET', pathOf(SECOND_TRACE), undefined, userKey)).toEqual(refused);
    expect(await send('POST', `${PATH}/summary`, summary, userKey)).toEqual(refused);
    const viewer = (await key({ user_role: 'proxy_admin_viewer' })).key;
    const readOnly = detail(403, 'Admin viewers cannot write feedback');
    expect(await send('PUT', PATH, body, viewer)).toEqual(readOnly);
    expect(await send('DELETE', pathOf(SECOND_TRACE), undefined, viewer)).toEqual(readOnly);
    expect((await send('GET', pathOf(SECOND_TRACE), undefined, viewer)).status).toBe(200);
    const [run] = syntheticRuns(1, 11);
    if (run === undefined) throw new Error('No run was made.');
    await send('POST', '/v1/traces', exportOf([run], Date.now() - 3_600_000), userKey);
    expect((await send('PUT', PATH, { trace_id: run.traceId, score: 2 }, userKey)).status).toBe(200);
  });

  it('lens.setFeedback 409: a trace with the maximum number of annotations, which include feedback', async () => {
    const [run] = syntheticRuns(1, 13);
    if (run === undefined) throw new Error('No run was made.');
    await ingest([run]);
    const trace = { trace_id: run.traceId, score: 5 };
    for (let start = 0; start < MAX_ANNOTATIONS; start += 50)
      await Promise.all(
        Array.from({ length: 50 }, (_, index) => send('PUT', PATH, { ...trace, user: `u${start + index}` })),
      );
    expect(await send('PUT', PATH, { ...trace, user: 'late' })).toEqual(
      detail(409, `A trace has at most ${MAX_ANNOTATIONS} annotations.`),
    );
  });

  it('is part of a review, so that new feedback causes a new review', async () => {
    const lens = await untilRunEnds((await create(aLens())).id);
    const before = judge().calls();
    await send('POST', `/lens/${lens.id}/runs`, { lookback_hours: 24 });
    const same = await untilRunEnds(lens.id);
    expect(same.jobs[0].coverage['reused']).toBe(same.jobs[0].coverage['screened']);
    await send('PUT', PATH, { trace_id: SECOND_TRACE, score: 1, comment: 'It ignored me.' });
    await send('POST', `/lens/${lens.id}/runs`, { lookback_hours: 24 });
    const after = await untilRunEnds(lens.id);
    expect(Number(after.jobs[0].coverage['screened']) - Number(after.jobs[0].coverage['reused'])).toBe(1);
    expect(judge().calls()).toBeGreaterThan(before);
    const run = (await send('GET', `/lens/${lens.id}/runs/${after.jobs[0].id}`)).body;
    const executions = (run['sample'] as { readonly executions: readonly Json[] }).executions;
    expect(executions.find(({ trace_id: id }) => id === SECOND_TRACE)?.['metadata']).toContainEqual({
      key: 'feedback',
      value: '1/10 It ignored me.',
    });
  });
});

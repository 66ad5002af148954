import { readIngestionCredentials, readLensService } from '../resolvers/lens-service.ts';
import { createTracingKey, deleteTracingKey, listTracingKeys } from '../resolvers/lens-tracing-keys.ts';
import { TRACING_KEY_LIMITS } from '../src/domain/lens/text-limits.ts';
import type { TracingKey } from '../src/domain/lens/tracing-key.ts';
import { WORKER_PROTOCOL } from '../src/domain/lens/worker.ts';
import { VERSION } from '../src/domain/version.ts';
import { bodyOf, instant, modelOf, optional, orNull, type Reader, textOf } from './helpers/http/strict-fields.ts';
import { json, route, type RouteRow } from './helpers/http/route.ts';
import { LENS_CHANGE, LENS_READ } from './helpers/http/row-facts.ts';

const unixSeconds = (time: Date): number => Math.floor(time.getTime() / 1_000);

/** An instant in ISO 8601, or in Unix seconds. A number from 1e11 on is refused: it is probably in milliseconds. */
const instantOrSeconds: Reader<Date> = (input, path, issues) =>
  typeof input === 'number' && Math.abs(input) < 1e11 ? new Date(input * 1_000) : instant(input, path, issues);

const readDraft = bodyOf(
  modelOf({
    name: optional(textOf({ min: 1, max: TRACING_KEY_LIMITS.name }), 'Agent tracing'),
    team_id: optional(orNull(textOf({ max: TRACING_KEY_LIMITS.teamId })), null),
    expires_at: optional(orNull(instantOrSeconds), null),
  }),
);

const tenantJson = ({ teamId, userId, organizationId, tokenHash }: TracingKey) => ({
  team_id: teamId,
  user_id: userId,
  org_id: organizationId,
  api_key_hash: tokenHash,
});

const recordJson = (key: TracingKey) => ({
  id: key.id,
  name: key.name,
  tenant: tenantJson(key),
  created_at: key.createdAt.toISOString(),
  expires_at: key.expiresAt === null ? null : unixSeconds(key.expiresAt),
});

/**
 * Keys that may only send traces, their hashes for a trace service of the operator, and the address of this process.
 */
export const lensTracingKeyRoutes: readonly RouteRow[] = [
  route({
    ...LENS_CHANGE,
    name: 'lens.createTracingKey',
    bodySchema: readDraft.schema,
    paths: ['/lens/tracing/keys'],
    statuses: [200, 401, 403, 409, 422],
    parse({ body }) {
      const { name, team_id: teamId, expires_at: expiresAt } = readDraft(body);
      return { name, teamId: teamId ?? '', expiresAt };
    },
    run: createTracingKey,
    render: ({ token, key }) => json({ key: token, record: recordJson(key), active: true }),
  }),
  route({
    ...LENS_READ,
    name: 'lens.tracingKeys',
    paths: ['/lens/tracing/keys'],
    statuses: [200, 401, 403],
    parse: () => undefined,
    run: listTracingKeys,
    render: (keys) => json(keys.map(recordJson)),
  }),
  route({
    ...LENS_CHANGE,
    name: 'lens.deleteTracingKey',
    method: 'DELETE',
    paths: ['/lens/tracing/keys/:key'],
    statuses: [200, 401, 403],
    parse: ({ params }) => ({ id: params['key'] ?? '' }),
    run: deleteTracingKey,
    render: () => json(true),
  }),
  route({
    ...LENS_READ,
    name: 'lens.service',
    paths: ['/lens/service'],
    statuses: [200, 401],
    parse: () => undefined,
    run: readLensService,
    // The built-in trace service is this process, so it is always connected and configured.
    render: ({ url, storageReady }) =>
      json({
        url,
        connected: true,
        status: {
          storage_ready: storageReady,
          credentials_ready: true,
          release: VERSION,
          protocol_version: WORKER_PROTOCOL,
        },
        configured: true,
        release: `v${VERSION}`,
      }),
  }),
  route({
    ...LENS_READ,
    name: 'lens.ingestionCredentials',
    paths: ['/lens/internal/ingestion-credentials'],
    // The trace service of the operator sends its own token, which is not a key.
    credential: 'none',
    statuses: [200, 401, 503],
    parse: ({ headers: { authorization } }) => /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1] ?? null,
    run: readIngestionCredentials,
    render: ({ issuedAt, keys }) =>
      json({
        issued_at: unixSeconds(issuedAt),
        keys: keys.map((key) => ({
          token_hash: key.tokenHash,
          tenant: tenantJson(key),
          expires_at: key.expiresAt === null ? null : unixSeconds(key.expiresAt),
        })),
      }),
  }),
];

import { Conflict, InvalidInput } from '../../domain/errors.ts';
import {
  assertTarget,
  DEFAULT_ENDPOINT,
  type EndpointPatch,
  type EndpointSettings,
  type EndpointStore,
  type PassThroughEndpoint,
  type StoredEndpoint,
} from '../../domain/pass-through/endpoint.ts';
import type { PassThroughEndpoints } from '../../domain/pass-through/endpoints.ts';
import { hasMaskedHeader, headersFault, unmaskedHeaders } from '../../domain/pass-through/headers.ts';
import { passThroughRoutesOf } from '../../domain/pass-through/routes.ts';
import { newStamps } from '../../domain/row-store.ts';
import { Secret } from '../../domain/secret.ts';
import { type Cipher, cipherFor, type Secrets } from '../credentials/encryption.ts';
import { createJsonSealer } from '../credentials/json-sealer.ts';
import { orderedReads } from '../tasks/ordered-reads.ts';

type Headers = Readonly<Record<string, string>>;

export interface EndpointOptions {
  /** Pass-through endpoints of the configuration file. */
  readonly configured: readonly PassThroughEndpoint[];
  readonly timeoutSeconds: number;
  readonly store: EndpointStore;
  /** Secrets from which the encryption keys for stored headers are derived. */
  readonly secrets: Secrets;
  readonly log: { warn(facts: object, event: string): void };
}

/** Pass-through endpoints in memory, read from their store. */
export function createPassThroughEndpoints({
  configured: initial,
  timeoutSeconds,
  store,
  secrets,
  log,
}: EndpointOptions): PassThroughEndpoints {
  const headerSealer = createJsonSealer<Headers>(headerCipher(secrets), (id) => {
    log.warn({ id }, 'A pass-through endpoint is not served: its headers were encrypted with another admin key.');
  });
  let configured = initial;
  let stored: readonly PassThroughEndpoint[] = [];
  let routes = passThroughRoutesOf(configured);

  function use(rows: readonly StoredEndpoint[]): void {
    stored = rows.map(endpointOf);
    routes = passThroughRoutesOf([...configured, ...stored]);
  }

  /** The decrypted endpoint of a row. When no known key decrypts the headers, they are null and it is not served. */
  function endpointOf(row: StoredEndpoint): PassThroughEndpoint {
    const opened = headerSealer.open(row.id, row.sealedHeaders);
    const { id, path, target, settings } = row;
    const headers = opened === null ? null : secretsOf(opened);
    return { ...DEFAULT_ENDPOINT, ...settings, id, path, target, headers, isFromConfig: false };
  }

  const refresh = orderedReads(() => store.all(null), use);

  return {
    timeoutSeconds,
    find: (method, path) => routes.find(method, path),
    list: () => [...configured, ...stored],
    async add({ id, path, target, headers: sent = {}, ...settings }, by) {
      assertUsable(path, target, sent);
      const row: StoredEndpoint = {
        id,
        path,
        target,
        settings: settingsOf(DEFAULT_ENDPOINT, settings),
        sealedHeaders: headerSealer.seal(id, sent),
        ...newStamps(by),
      };
      await store.add(row);
      await refresh();
      return endpointOf(row);
    },
    async change(id, patch, { now, by }) {
      const changed = await store.change(id, (row) => {
        const opened = headerSealer.open(row.id, row.sealedHeaders);
        const areReplaced = patch.headers !== undefined && !hasMaskedHeader(patch.headers);
        // Without the stored headers, a patch would lose those that it does not send, and masked values.
        if (opened === null && !areReplaced)
          throw new Conflict(
            'The headers of this endpoint were encrypted with another admin key. Send all of them, with secrets.',
          );
        const current = opened ?? {};
        const path = patch.path ?? row.path;
        const target = patch.target ?? row.target;
        const next = patch.headers === undefined ? current : unmaskedHeaders(patch.headers, current);
        assertUsable(path, target, next);
        const settings = settingsOf({ ...DEFAULT_ENDPOINT, ...row.settings }, patch);
        return {
          ...row,
          path,
          target,
          settings,
          sealedHeaders: headerSealer.seal(id, next),
          updatedAt: now,
          updatedBy: by,
        };
      });
      await refresh();
      return changed === null ? null : endpointOf(changed.after);
    },
    async remove(id) {
      const [removed] = await store.remove([id]);
      await refresh();
      return removed === undefined ? null : endpointOf(removed);
    },
    async removeStored() {
      const rows = await store.all(null);
      const removed = await store.remove(rows.map(({ id }) => id));
      await refresh();
      return removed.length;
    },
    configure(endpoints) {
      configured = endpoints;
      routes = passThroughRoutesOf([...configured, ...stored]);
    },
    refresh,
  };
}

const secretsOf = (headers: Headers): Readonly<Record<string, Secret>> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, new Secret(value)]));

/** Settings with the values of a patch. Other members of the patch are ignored. */
function settingsOf(before: EndpointSettings, patch: EndpointPatch): EndpointSettings {
  const given = Object.entries(patch).filter(([name, value]) => value !== undefined && Object.hasOwn(before, name));
  return { ...before, ...(Object.fromEntries(given) as Partial<EndpointSettings>) };
}

function assertUsable(path: string, target: string, headers: Headers): void {
  if (/[?#\s]/.test(path)) {
    throw new InvalidInput("Invalid value for 'path': it must have no query and no blanks.", [], { field: 'path' });
  }
  assertTarget(target);
  const fault = headersFault(headers);
  if (fault !== null) throw new InvalidInput(`Invalid value for 'headers': it ${fault}.`, [], { field: 'headers' });
}

/** Encrypts the headers of stored pass-through endpoints. */
export const headerCipher = (secrets: Secrets): Cipher => cipherFor(secrets, 'pass-through headers');

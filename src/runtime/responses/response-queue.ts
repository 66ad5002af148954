import { Unavailable } from '../../domain/errors.ts';
import type {
  Conversation,
  StoredResponse,
  ResponseQueue,
  SealedResponse,
  SealedResponseStore,
} from '../../domain/responses/stored-response.ts';
import type { Secret } from '../../domain/secret.ts';
import type { Log } from '../telemetry/log.ts';
import { keyFor, open, seal } from '../credentials/encryption.ts';
import { createWriteBehind } from '../tasks/write-behind.ts';

const MEGABYTE = 1024 * 1024;

/** Limits in bytes and turns. */
const LIMITS = {
  /** Maximum bytes of one response with its input. */
  response: 16 * MEGABYTE,
  /** Maximum bytes of a restored conversation: the default limit of a request body. */
  conversation: 32 * MEGABYTE,
  /** Maximum number of turns of a conversation. */
  turns: 1_000,
  /** Maximum bytes that wait for the store. */
  waiting: 64 * MEGABYTE,
} as const;

/** The queue with its flush at shutdown. */
export interface RunningResponseQueue extends ResponseQueue {
  /** Resolves when no response waits for the store; rejects when a commit fails. */
  flush(): Promise<void>;
}

/** A response that is not stored yet. It is read from memory. */
interface QueuedResponse {
  readonly row: SealedResponse;
  removed: boolean;
}

/** Authenticated data of a row: the content cannot be decrypted after a change of these columns. */
const authenticatedDataOf = ({ id, previousId, owner: { teamId, keyHash } }: Omit<SealedResponse, 'sealed'>): string =>
  JSON.stringify([id, previousId, teamId ?? '', keyHash]);

/**
 * Encrypts input and output with a key derived from the admin key, and stores them in the background. No call waits for
 * the write. A response that is not stored yet is read from memory.
 */
export function createResponseQueue({
  store,
  masterKey,
  storesNew,
  log,
  limits = LIMITS,
}: {
  readonly store: Pick<SealedResponseStore, 'add' | 'find' | 'chain' | 'remove'>;
  readonly masterKey: Secret;
  /** Whether new responses are stored. Responses that are already stored stay readable. */
  readonly storesNew: boolean;
  readonly log: Pick<Log, 'error'>;
  readonly limits?: Readonly<Record<keyof typeof LIMITS, number>>;
}): RunningResponseQueue {
  const key = keyFor(masterKey, 'kept responses');
  const waiting = new Map<string, QueuedResponse>();
  let waitingBytes = 0;

  function removeWaiting({ id, sealed }: SealedResponse): void {
    if (waiting.delete(id)) waitingBytes -= sealed.length;
  }

  const writes = createWriteBehind<QueuedResponse>({
    async commit(batch) {
      const rows = batch.filter(({ removed }) => !removed).map(({ row }) => row);
      if (rows.length > 0) await store.add(rows);
      for (const { row, removed } of batch) {
        // The response may have been removed during the commit.
        if (removed) await store.remove(row.id);
        removeWaiting(row);
      }
    },
    faultOf: (error) => (error instanceof Unavailable ? 'store' : 'either'),
    failed: (error, count) => log.error({ err: error, waiting: count }, 'responses could not be stored; trying again'),
    dropped: (count) => log.error({ count }, 'responses were lost: the store was unavailable for too long'),
    refused({ row }, error) {
      removeWaiting(row);
      log.error({ err: error, responseId: row.id }, 'a response was dropped: the store refused it');
    },
  });

  const sealedOf = ({ input, response, ...about }: StoredResponse): SealedResponse => ({
    ...about,
    sealed: seal(key, Buffer.from(JSON.stringify({ input, response })), authenticatedDataOf(about)),
  });

  /** The decrypted response; null when it was encrypted with another admin key. */
  function opened({ sealed, ...about }: SealedResponse): StoredResponse | null {
    const plain = open(key, sealed, authenticatedDataOf(about));
    if (plain === null) return null;
    return { ...about, ...(JSON.parse(plain.toString('utf8')) as Pick<StoredResponse, 'input' | 'response'>) };
  }

  const queuedRow = (id: string): SealedResponse | null => {
    const queued = waiting.get(id);
    return queued === undefined || queued.removed ? null : queued.row;
  };
  /** The decrypted responses of rows, without removed and unreadable ones. */
  const present = (rows: readonly SealedResponse[]): readonly StoredResponse[] =>
    rows.flatMap((row) => (waiting.get(row.id)?.removed === true ? [] : (opened(row) ?? [])));

  async function findAll(ids: readonly string[]): Promise<readonly StoredResponse[] | null> {
    const queued = ids.flatMap((id) => queuedRow(id) ?? []);
    const storedIds = ids.filter((id) => !waiting.has(id));
    const room = limits.conversation - queued.reduce((sum, { sealed }) => sum + sealed.length, 0);
    if (room < 0) return null;
    const stored = storedIds.length === 0 ? [] : await store.find(storedIds, room);
    return stored === null ? null : present([...queued, ...stored]);
  }

  /** The rows of a conversation, newest first. The newest is possibly not yet stored. */
  async function rowsOf(newest: string): Promise<readonly SealedResponse[]> {
    const queued: SealedResponse[] = [];
    let next: string | null = newest;
    let row = queuedRow(newest);
    while (row !== null && queued.length < limits.turns) {
      queued.push(row);
      next = row.previousId;
      row = next === null ? null : queuedRow(next);
    }
    if (next === null || waiting.has(next)) return queued;
    return [...queued, ...(await store.chain(next, limits.turns, limits.conversation))];
  }

  return {
    mayStore: (requestBytes) =>
      storesNew && requestBytes <= limits.response && waitingBytes + requestBytes <= limits.waiting,
    enqueue(response) {
      const row = sealedOf(response);
      const size = row.sealed.length;
      if (size > limits.response || waitingBytes + size > limits.waiting) return false;
      const entry = { row, removed: false };
      waiting.set(row.id, entry);
      waitingBytes += size;
      writes.push(entry);
      return true;
    },
    async find(id) {
      const [found] = (await findAll([id])) ?? [];
      return found ?? null;
    },
    findAll,
    async conversation({ id }): Promise<Conversation> {
      const rows = await rowsOf(id);
      const bytes = rows.reduce((sum, { sealed }) => sum + sealed.length, 0);
      if (rows.length > limits.turns || bytes > limits.conversation) return { kind: 'too long' };
      const turns = present(rows).toReversed();
      const [first] = turns;
      const isWhole = turns.length === rows.length && first?.previousId === null;
      if (isWhole) return { kind: 'whole', turns };
      // With the maximum number of turns, earlier turns are missing because the read has ended there.
      return { kind: rows.length === limits.turns ? 'too long' : 'broken' };
    },
    async remove(id) {
      const queued = waiting.get(id);
      if (queued === undefined) return await store.remove(id);
      queued.removed = true;
    },
    flush: () => writes.flush(),
  };
}

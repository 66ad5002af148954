import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { newCredential } from '../../src/domain/credentials/credential.ts';
import { newStoredDeployment } from '../../src/domain/deployments/stored-deployment.ts';
import { Conflict } from '../../src/domain/errors.ts';
import type { RowStore, Stamps } from '../../src/domain/row-store.ts';
import { Secret } from '../../src/domain/secret.ts';
import type { Stores } from '../../src/persistence/stores.ts';
import { createSealedCredentials, createSealedDeployments } from '../../src/runtime/credentials/sealed-stores.ts';
import { type Engine, ENGINES, type ScratchDatabase } from './engines.ts';
import { START_MS } from './samples.ts';

interface AnyRow extends Stamps {
  readonly id: string;
}

type AnyStore = RowStore<AnyRow, unknown> & { fingerprint(): Promise<string> };

const SALT = { current: new Secret('salt'), former: [] };
const SECRET = 'sk-secret-value-12345';
const about = (id: string, offsetMs = 0) => ({ id, now: new Date(START_MS + offsetMs), by: 'admin' });
const aDeployment = (id: string, offsetMs = 0) =>
  newStoredDeployment(
    { modelGroup: 'm', params: { model: 'demo', api_key: SECRET, rpm: 5 }, info: { mode: 'chat', b: [1] } },
    { ...about(id, offsetMs), row: {} },
  );
const aCredential = (id: string, offsetMs = 0) =>
  newCredential(
    { displayName: 'C', values: { api_key: SECRET, api_base: 'http://x' }, info: { a: 1 } },
    about(id, offsetMs),
  );

const NOUNS: Readonly<
  Record<
    string,
    { readonly store: (stores: Stores) => AnyStore; readonly row: (id: string, offsetMs: number) => AnyRow }
  >
> = {
  deployments: { store: (stores) => createSealedDeployments(stores.deployments, SALT), row: aDeployment },
  credentials: { store: (stores) => createSealedCredentials(stores.credentials, SALT), row: aCredential },
  fallbacks: {
    store: (stores) => stores.fallbacks,
    row: (id, offsetMs) => {
      const now = new Date(START_MS + offsetMs);
      const stamps = { createdAt: now, createdBy: 'admin', updatedAt: now, updatedBy: 'admin' };
      const row = { id, model: id, type: 'general', targets: ['b', 'a'], ...stamps };
      return row;
    },
  },
};

function modelStoreSuite(engine: Engine): void {
  describe.skipIf(engine.skipReason !== null)(`stores of models on ${engine.name}`, () => {
    let scratch: ScratchDatabase;
    let stores: Stores;
    beforeAll(async () => {
      scratch = await engine.create();
      stores = await scratch.open();
    });
    afterEach(() => scratch.clear());
    afterAll(() => scratch.remove());

    describe.each(Object.entries(NOUNS))('%s', (_name, noun) => {
      const store = () => noun.store(stores);
      const rowOf = noun.row;
      /** A row with its secrets as texts, because `toEqual` sees no difference between two Secrets. */
      const revealed = (row: unknown): unknown =>
        JSON.parse(JSON.stringify(row, (_key, value: unknown) => (value instanceof Secret ? value.reveal() : value)));

      it('returns rows unchanged, with their secrets, and none for an unknown id', async () => {
        await store().add(rowOf('one', 0), rowOf('two', 1));
        expect(await store().find('one')).toEqual(rowOf('one', 0));
        expect(revealed(await store().find('one'))).toEqual(revealed(rowOf('one', 0)));
        expect(await store().all({ ids: null, model: null })).toEqual([rowOf('one', 0), rowOf('two', 1)]);
        expect(await store().find('three')).toBeNull();
      });

      it('refuses an existing id', async () => {
        await store().add(rowOf('one', 0));
        await expect(store().add(rowOf('two', 0), rowOf('one', 0))).rejects.toThrow(Conflict);
        expect(await store().find('two')).toBeNull();
      });

      it('has another fingerprint after every change', async () => {
        const fingerprints = [await store().fingerprint()];
        const addFingerprint = async () => void fingerprints.push(await store().fingerprint());
        await store().add(rowOf('one', 0), rowOf('two', 0));
        await addFingerprint();
        await store().change('one', (row) => ({ ...row, updatedBy: 'other' }));
        await addFingerprint();
        await store().remove(['two']);
        await addFingerprint();
        await store().remove(['one']);
        await store().add(rowOf('three', 0));
        await addFingerprint();
        expect(new Set(fingerprints).size).toBe(fingerprints.length);
        await addFingerprint();
        expect(fingerprints.at(-1)).toBe(fingerprints.at(-2));
      });
    });

    it('stores no secret in clear text, and reads none with another salt key', async () => {
      await createSealedDeployments(stores.deployments, SALT).add(aDeployment('one'));
      await createSealedCredentials(stores.credentials, SALT).add(aCredential('one'));
      for (const raw of [await stores.deployments.find('one'), await stores.credentials.find('one')]) {
        const text = JSON.stringify(raw) + Buffer.from(String(raw?.sealed), 'base64').toString('latin1');
        expect(text).not.toContain(SECRET);
        expect(text).not.toContain('http://x');
      }
      const other = { current: new Secret('another'), former: [] };
      expect(await createSealedDeployments(stores.deployments, other).find('one')).toEqual({
        ...aDeployment('one'),
        params: {},
        secrets: {},
        unreadable: true,
      });
      expect(await createSealedCredentials(stores.credentials, other).find('one')).toMatchObject({ unreadable: true });
    });
  });
}

for (const engine of ENGINES) modelStoreSuite(engine);

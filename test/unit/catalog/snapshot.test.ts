import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { brotliDecompressSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { factsOf } from '../../../scripts/facts-only.ts';
import { mapFault, modelsOfMap } from '../../../src/domain/catalog/price-map.ts';
import {
  EMBEDDED_FOLDER,
  embeddedTakenAt,
  loadEmbeddedMap,
  loadEmbeddedSnapshot,
} from '../../../src/runtime/catalog/snapshot.ts';

const json = brotliDecompressSync(readFileSync(new URL('snapshot.json.br', EMBEDDED_FOLDER))).toString('utf8');
const provenance = JSON.parse(readFileSync(new URL('provenance.json', EMBEDDED_FOLDER), 'utf8')) as Record<
  string,
  unknown
>;

describe('the built-in catalog', () => {
  it('has the hash and the number of models that its provenance states', () => {
    const sha256 = createHash('sha256').update(json).digest('hex');
    const count = Object.keys(JSON.parse(json) as object).length;
    expect({ models: count, sha256 }).toEqual({ models: provenance['models'], sha256: provenance['sha256'] });
  });
  it('has at least 4,000 models and passes the guards of a live map', () => {
    const models = modelsOfMap(JSON.parse(json));
    expect([(models?.length ?? 0) >= 4_000, mapFault(models, 0)]).toEqual([true, null]);
  });
  it('contains only facts', () => {
    expect(JSON.stringify(factsOf(JSON.parse(json)))).toBe(json);
  });
  it('is loaded in the order of its file, with its provenance', () => {
    const map = loadEmbeddedMap();
    expect([map.models.map(([id]) => id), map.sha256, map.takenAt, embeddedTakenAt()]).toEqual([
      Object.keys(JSON.parse(json) as object),
      provenance['sha256'],
      new Date(String(provenance['takenAt'])),
      new Date(String(provenance['takenAt'])),
    ]);
  });
  it('finds entries by case-sensitive id, and derives its own id from its content', () => {
    const snapshot = loadEmbeddedSnapshot();
    expect(snapshot.find('gpt-4o')).toMatchObject({ id: 'gpt-4o', provider: 'openai', mode: 'chat' });
    expect([snapshot.find('GPT-4o'), snapshot.find('__proto__'), snapshot.source, snapshot.id]).toEqual([
      null,
      null,
      'embedded',
      String(provenance['sha256']).slice(0, 16),
    ]);
  });
});

import { expect, it } from 'vitest';
import { DomainError } from '../../../src/domain/errors.ts';
import { readSpans } from '../../../src/domain/traces/read-span.ts';
import { decodeExport } from '../../../src/wire/otlp/decode.ts';
import { encodeExport } from '../../support/otlp-oracle.ts';
import { asOtlpJson, randomExport, seeded } from '../../support/random-export.ts';

const ROUNDS = 4_000;
const DAMAGES_EACH = 8;
const OWNER = { teamId: '', keyHash: 'k' };

/** Flips, cuts, repeats and inserts bytes. */
function mutated(body: Uint8Array, draw: (below: number) => number): Uint8Array {
  let bytes = [...body];
  for (let change = 0; change <= draw(4); change++) {
    const at = draw(bytes.length + 1);
    const what = draw(4);
    if (what === 0) bytes[at] = draw(256);
    else if (what === 1) bytes = bytes.slice(0, at);
    else if (what === 2) bytes.splice(at, draw(8));
    else bytes.splice(at, 0, ...Array.from({ length: draw(8) }, () => draw(256)));
  }
  return Uint8Array.from(bytes);
}

function outcome(body: Uint8Array, contentType: string): 'read' | 'refused' {
  try {
    readSpans(decodeExport(body, contentType), OWNER);
    return 'read';
  } catch (error) {
    if (error instanceof DomainError) return 'refused';
    throw error;
  }
}

it.each(['application/x-protobuf', 'application/json'])(
  'damaged exports as %s are read or refused, never anything else',
  (contentType) => {
    const draw = seeded(7);
    const seen = { read: 0, refused: 0 };
    let whole: Uint8Array = new Uint8Array(0);
    for (let round = 0; round < ROUNDS; round++) {
      if (round % DAMAGES_EACH === 0) {
        const { request } = randomExport(draw);
        whole = contentType.endsWith('json') ? Buffer.from(asOtlpJson(request)) : encodeExport(request);
      }
      seen[outcome(mutated(whole, draw), contentType)] += 1;
    }
    // Both ways out were taken, so the damage was neither total nor none.
    expect(seen.read).toBeGreaterThan(ROUNDS / 20);
    expect(seen.refused).toBeGreaterThan(ROUNDS / 20);
  },
  60_000,
);

import { readFileSync, writeFileSync } from 'node:fs';
import wabt from 'wabt';

const SOURCE = new URL('../src/wire/json/string-end.wat', import.meta.url);
/** The generated module. */
export const GENERATED_MODULE: URL = new URL('string-end.ts', SOURCE);

/** Source of the module with the compiled `string-end.wat`. */
export async function generatedModule(): Promise<string> {
  const module = (await wabt()).parseWat('string-end.wat', readFileSync(SOURCE, 'utf8'), { simd: true });
  const bytes = Buffer.from(module.toBinary({}).buffer).toString('base64');
  module.destroy();
  return [
    '/** `string-end.wat`, compiled by `npm run wasm`; in base64. */',
    `export const STRING_END =\n  '${bytes}';`,
    '',
  ].join('\n');
}

if (import.meta.main) writeFileSync(GENERATED_MODULE, await generatedModule());

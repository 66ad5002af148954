import { registerHooks } from 'node:module';
import type { ICruiseResult, IForbiddenRuleType } from 'dependency-cruiser';

// TypeScript 7 has no compiler API, and dependency-cruiser without one reads no `.ts` at all and reports
// success. It gets TypeScript 6 instead. Over when it supports a parser that comes with TypeScript 7.
registerHooks({
  resolve(specifier, context, next) {
    const theirs = context.parentURL?.includes('/node_modules/dependency-cruiser/') ?? false;
    const compiler = specifier === 'typescript' || specifier.startsWith('typescript/');
    return next(
      theirs && compiler ? `@typescript/${specifier.replace('typescript', 'typescript6')}` : specifier,
      context,
    );
  },
});

/** The compiler the cruiser reads with. */
export { version as compilerVersion } from '@typescript/typescript6';

/** Reads every import under `folders` of `baseDir` and judges it by the rules. */
export async function cruiseHouse(
  baseDir: string,
  folders: readonly string[],
  rules: readonly IForbiddenRuleType[],
): Promise<ICruiseResult> {
  const { cruise } = await import('dependency-cruiser');
  const { output } = await cruise([...folders], {
    baseDir,
    validate: true,
    ruleSet: { forbidden: [...rules] },
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    exclude: { path: ['^test/house/canary/', '/generated/'] },
  });
  if (typeof output === 'string') throw new TypeError('dependency-cruiser answered with text instead of a result.');
  return output;
}

import { registerHooks } from 'node:module';
import type { ICruiseResult, IForbiddenRuleType } from 'dependency-cruiser';

// TypeScript 7 has no compiler API. Without one, dependency-cruiser reads no `.ts` file and reports success, so it
// gets TypeScript 6. Remove this hook when it supports a parser of TypeScript 7.
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

/** Version of the compiler that the cruiser uses. */
export { version as compilerVersion } from '@typescript/typescript6';

/** Checks every import under `folders` of `baseDir` against the rules. */
export async function cruiseSources(
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

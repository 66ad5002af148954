import type { CatalogEntry } from '../src/domain/catalog/catalog.ts';
import type { CallNames } from '../src/domain/traces/call-usage.ts';
import { traceReader } from './operation/access.ts';
import { operation } from './operation/operation.ts';
import type { Scope } from './operation/scope.ts';

/** The catalog entry of a model as a span names it and who answered; null when none is certain. */
export const findEntryOfCall = operation({
  name: 'findEntryOfCall',
  access: traceReader,
  run: ({ platform }: Scope, named: CallNames): CatalogEntry | null => platform.estimates.entryOf(named),
});

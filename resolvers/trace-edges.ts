import type { CatalogEntry } from '../src/domain/catalog/catalog.ts';
import type { CallNames } from '../src/domain/traces/call-usage.ts';
import { traceReader } from './operation/access.ts';
import { operation } from './operation/operation.ts';
import type { TracePlatform } from './operation/platform.ts';
import type { Scope } from './operation/scope.ts';

/** Catalog entry of the model and provider that a span names; null when no entry is unambiguous. */
export const findEntryOfCall = operation({
  name: 'findEntryOfCall',
  access: traceReader,
  run: ({ platform }: Scope<TracePlatform>, named: CallNames): CatalogEntry | null => platform.estimates.entryOf(named),
});

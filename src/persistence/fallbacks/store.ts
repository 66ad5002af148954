import type { FallbackStore, ModelFallback } from '../../domain/fallbacks/fallback.ts';
import type { Database } from '../database/database.ts';
import { fingerprintOf } from '../database/fingerprint.ts';
import { createRowStore, matching } from '../database/row-store.ts';
import { FallbackEntity } from './entities.ts';

export const createFallbackStore = (database: Database): FallbackStore => ({
  ...createRowStore<ModelFallback, { readonly model: string | null }, 'created_at'>(database, {
    entity: FallbackEntity,
    noun: 'fallback',
    audited: 'model_fallback',
    where: ({ model }) => matching({ model }),
    conflictText: ({ model }) => `The fallbacks of the model ${model} are being changed by other requests. Try again.`,
  }),
  fingerprint: fingerprintOf(database, 'model_fallback'),
});

import type { JsonObject } from '../../domain/json-object.ts';
import { p } from '@mikro-orm/core';
import { UsdTextType } from './usd-text.ts';

/** Columns of `Limits`. Rate limits are doubles, because they may exceed 32 bits. */
export const limitColumns = () => ({
  maxBudget: p.type(UsdTextType).nullable(),
  softBudget: p.type(UsdTextType).nullable(),
  budgetDuration: p.text().nullable(),
  budgetResetAt: p.datetime().nullable(),
  rpmLimit: p.double().nullable(),
  tpmLimit: p.double().nullable(),
  tpdLimit: p.double().nullable(),
  maxParallelRequests: p.double().nullable(),
});

/** Columns of `Stamps`, and the revision that detects concurrent changes (ADR 0053). */
export const stampColumns = () => ({
  createdAt: p.datetime(),
  createdBy: p.text(),
  updatedAt: p.datetime(),
  updatedBy: p.text(),
  revision: p.integer().version(),
});

/** A JSON list of strings. */
export const textsColumn = () => p.json().columnType('json').$type<readonly string[]>();

/** A JSON object, with the caller's order of members: PostgreSQL's `jsonb` would change it. */
export const objectColumn = () => p.json().columnType('json').$type<JsonObject>();

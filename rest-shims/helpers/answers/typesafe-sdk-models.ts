import type { getModel } from '../../../resolvers/models.ts';
import type { HttpRequest } from '../http/route.ts';

type NamedModel = ReturnType<typeof getModel>;

/**
 * Release date of every model, because the catalog has no release dates: the day of the constant `created` in
 * `rest-shims/models.ts`.
 */
const RELEASED_ON = '2023-02-28';

/**
 * Whether the client is the SDK of TypeSafe, a vendor of decision models. The SDK reads the member `models` of the
 * list.
 */
export const isForTypesafe = ({ headers }: Pick<HttpRequest, 'headers'>): boolean =>
  headers['x-typesafe-sdk'] !== undefined;

/** A model in TypeSafe's format. Its description is its mode in the catalog; empty when unknown. */
export const typesafeModel = ({ name, entry }: NamedModel) => ({
  name,
  description: entry?.mode ?? '',
  release_date: RELEASED_ON,
});

import type { Caller } from '../../domain/caller.ts';
import type { ModelRequest } from '../../domain/chat/chat.ts';
import type { LabelBudgets } from '../admission/label-budgets.ts';
import { type CustomerPlace, inRegion, nowhere, permittedFor, placeOf } from './permitted-router.ts';
import type { TeamRouter } from './route.ts';

/** Binds a request to the region of its customer. Synchronous when the labels are in memory. Throws Forbidden. */
type Placing = (caller: Caller, request: ModelRequest) => ModelRequest | Promise<ModelRequest>;

export function createPlacing(routeOf: TeamRouter, labelBudgets: Pick<LabelBudgets, 'of'> | undefined): Placing {
  function placedAt(place: CustomerPlace | null, { key }: Caller, request: ModelRequest): ModelRequest {
    if (place === null) return request;
    const { region, defaultModel } = place;
    const permitted = permittedFor(routeOf, key);
    const isThere = (model: string): boolean => inRegion(permitted, region).all(model).length > 0;
    // An unknown model is refused later, as for every caller.
    if (permitted.all(request.model).length === 0 || isThere(request.model)) return { ...request, region };
    if (defaultModel === null || defaultModel === request.model) throw nowhere(request.model, region);
    return { ...request, model: defaultModel, ...(isThere(defaultModel) ? { region } : {}) };
  }

  return (caller, request) => {
    if (labelBudgets === undefined || request.labels === undefined) return request;
    const found = labelBudgets.of(request.labels, caller.key);
    return found instanceof Promise
      ? found.then((labels) => placedAt(placeOf(labels), caller, request))
      : placedAt(placeOf(found), caller, request);
  };
}

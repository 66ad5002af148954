import { Conflict, InvalidInput, NotFound } from '../src/domain/errors.ts';
import type { EndpointPatch, PassThroughEndpoint } from '../src/domain/pass-through/endpoint.ts';
import { coversPath } from '../src/domain/pass-through/rights.ts';
import { endpointAdmin, endpointViewer, system } from './operation/access.ts';
import { authored } from './operation/authored.ts';
import { operation } from './operation/operation.ts';
import type { PassThroughPlatform } from './operation/platform.ts';
import type { Scope } from './operation/scope.ts';

/** A new pass-through endpoint; an id is generated when it has none. */
export interface EndpointDraft extends EndpointPatch {
  readonly id: string | null;
  readonly path: string;
  readonly target: string;
}

const unknownEndpoint = (id: string): NotFound =>
  new NotFound('endpoint', id, `Endpoint with ID '${id}' was not found in pass-through endpoint list.`);

const MAX_TIMEOUT_SECONDS = 86_400;

function assertTimeout({ timeoutSeconds }: EndpointPatch): void {
  if (timeoutSeconds === undefined || timeoutSeconds === null) return;
  if (timeoutSeconds > 0 && timeoutSeconds <= MAX_TIMEOUT_SECONDS) return;
  throw new InvalidInput(
    `Invalid value for 'timeout': it must be above 0 and at most ${MAX_TIMEOUT_SECONDS} seconds.`,
    [],
    {
      field: 'timeout',
    },
  );
}

/** Throws Conflict for an endpoint of the configuration file. */
function assertNotOfFile({ platform }: Scope<PassThroughPlatform>, id: string): void {
  const found = platform.passThrough.list().find((one) => one.id === id);
  if (found?.isFromConfig !== true) return;
  throw new Conflict(`The entry ${id} is in the configuration file. Change it there.`);
}

/** Stores an endpoint. Its path is served immediately. Throws Conflict when its id is taken, and InvalidInput. */
export const createEndpoint = operation({
  name: 'createEndpoint',
  access: endpointAdmin,
  async run(scope: Scope<PassThroughPlatform>, { id, ...draft }: EndpointDraft): Promise<PassThroughEndpoint> {
    assertTimeout(draft);
    const newId = id ?? scope.platform.ids.uuid();
    assertNotOfFile(scope, newId);
    return await scope.platform.passThrough.add({ ...draft, id: newId }, authored(scope));
  },
});

/** Lists endpoints, those of the configuration file first; with an id, only the endpoint with this id. */
export const listEndpoints = operation({
  name: 'listEndpoints',
  access: endpointViewer,
  run: (
    { platform }: Scope<PassThroughPlatform>,
    { id }: { readonly id: string | null },
  ): readonly PassThroughEndpoint[] => platform.passThrough.list().filter((one) => id === null || one.id === id),
});

/** Lists the endpoints in the `allowed_passthrough_routes` of a team. Throws NotFound for an unknown team. */
export const listTeamEndpoints = operation({
  name: 'listTeamEndpoints',
  access: endpointViewer,
  async run({ platform }: Scope<PassThroughPlatform>, teamId: string): Promise<readonly PassThroughEndpoint[]> {
    const team = await platform.stores.teams.find(teamId);
    if (team === null) throw new NotFound('team', teamId, 'Team not found');
    const allowed = team.metadata['allowed_passthrough_routes'];
    const routes = Array.isArray(allowed) ? allowed.filter((route) => typeof route === 'string') : [];
    return platform.passThrough.list().filter(({ path }) => coversPath(routes, path));
  },
});

/** Changes the named members of a stored endpoint. Throws NotFound, Conflict and InvalidInput. */
export const updateEndpoint = operation({
  name: 'updateEndpoint',
  access: endpointAdmin,
  async run(
    scope: Scope<PassThroughPlatform>,
    { id, patch }: { readonly id: string; readonly patch: EndpointPatch },
  ): Promise<PassThroughEndpoint> {
    assertTimeout(patch);
    assertNotOfFile(scope, id);
    const changed = await scope.platform.passThrough.change(id, patch, authored(scope));
    if (changed === null) throw unknownEndpoint(id);
    return changed;
  },
});

/** Deletes a stored endpoint. Throws NotFound and Conflict. */
export const deleteEndpoint = operation({
  name: 'deleteEndpoint',
  access: endpointAdmin,
  async run(scope: Scope<PassThroughPlatform>, { id }: { readonly id: string }): Promise<PassThroughEndpoint> {
    assertNotOfFile(scope, id);
    const removed = await scope.platform.passThrough.remove(id);
    if (removed === null) throw unknownEndpoint(id);
    return removed;
  },
});

/** Applies changes of stored endpoints by other processes. */
export const refreshEndpoints = operation({
  name: 'refreshEndpoints',
  access: system,
  run: ({ platform }: Scope<PassThroughPlatform>): Promise<void> => platform.passThrough.refresh(),
});

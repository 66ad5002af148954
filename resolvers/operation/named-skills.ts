import type { ModelRequest } from '../../src/domain/chat/chat.ts';
import { InvalidInput } from '../../src/domain/errors.ts';
import { matchesGroup } from '../../src/domain/deployments/model-names.ts';
import { isSameUpstream } from '../../src/domain/deployments/same-upstream.ts';
import { MESSAGES } from '../../src/domain/inference/endpoint.ts';
import { containerWithSkills, skillsIn } from '../../src/domain/upstream-objects/named-skills.ts';
import type { UpstreamObject } from '../../src/domain/upstream-objects/upstream-object.ts';
import type { Gateway, ObjectGateway } from '../../src/gateway/gateway.ts';
import { noObject } from './object-calls.ts';
import { mayUseObject } from './object-owners.ts';
import { callerOf } from './operation.ts';
import type { Scope } from './scope.ts';
import type { Stores } from './stores.ts';

/** Skills that requests for messages name. */
export interface SkillPlatform {
  readonly stores: Pick<Stores, 'upstreamObjects'>;
  readonly gateway: Pick<Gateway, 'deployments'> & Pick<ObjectGateway, 'deployment' | 'deploymentsAt'>;
}

/** Maximum number of stored skills in one request. Each id is read from the database. */
const MAX_SKILLS = 32;

/** Whether a request names stored skills, so that it needs `withSkills`. */
export const namesSkills = ({ endpoint, body }: ModelRequest): boolean =>
  endpoint === MESSAGES && typeof body['container'] === 'object' && skillsIn(body).length > 0;

/**
 * A request with the ids of the provider in place of ids of skills, for the account that stores them. Throws NotFound
 * for a skill that the caller may not use, and InvalidInput for too many skills and for skills of several accounts. All
 * callers share the account, so only proxy administrators may name a skill that the gateway does not know.
 */
export async function withSkills(scope: Scope<SkillPlatform>, request: ModelRequest): Promise<ModelRequest> {
  const ids = skillsIn(request.body);
  if (ids.length > MAX_SKILLS)
    throw new InvalidInput(`container must name at most ${MAX_SKILLS} skills.`, [], { field: 'container' });
  const upstreamIds = new Map<string, string>();
  let { deploymentId } = request;
  for (const id of ids) {
    const skill = await skillOf(scope, request, id);
    if (skill === null) continue;
    upstreamIds.set(id, skill.upstreamId);
    deploymentId ??= skill.deploymentId;
    if (!isAtUpstream(scope, skill, deploymentId))
      throw new InvalidInput('container must name skills of one account of the provider.', [], { field: 'container' });
  }
  const container = containerWithSkills(request.body, upstreamIds);
  return {
    ...request,
    body: { ...request.body, container },
    replaced: { ...request.replaced, container },
    ...(deploymentId === undefined ? {} : { deploymentId }),
  };
}

/** A skill of the caller. Null for one without a row that a proxy administrator names. Throws NotFound. */
async function skillOf(scope: Scope<SkillPlatform>, request: ModelRequest, id: string): Promise<UpstreamObject | null> {
  const caller = callerOf(scope);
  const { upstreamObjects } = scope.platform.stores;
  const found = await upstreamObjects.find(id);
  const skill = found?.kind === 'skill' ? found : await skillAtUpstream(scope, request, id);
  if (skill !== null && mayUseObject(caller, skill.owner)) return skill;
  if (skill === null && found === null && caller.role === 'proxy_admin') return null;
  throw noObject('skill', id);
}

/**
 * A skill by its id at the provider, which answers have. Any deployment of the accounts of the model may have stored
 * it. Null for an id that the gateway does not know.
 */
async function skillAtUpstream(
  { platform: { stores, gateway } }: Scope<SkillPlatform>,
  { model }: ModelRequest,
  id: string,
): Promise<UpstreamObject | null> {
  const ofModel = gateway.deployments().filter(({ modelGroup }) => matchesGroup(modelGroup, model));
  for (const deploymentId of new Set(ofModel.flatMap((one) => gateway.deploymentsAt(one.id)))) {
    const [skill] = await stores.upstreamObjects.findAtUpstream(deploymentId, [id]);
    if (skill?.kind === 'skill') return (await stores.upstreamObjects.find(skill.id)) ?? null;
  }
  return null;
}

function isAtUpstream({ platform }: Scope<SkillPlatform>, skill: UpstreamObject, deploymentId: string): boolean {
  if (skill.deploymentId === deploymentId) return true;
  const [one, other] = [skill.deploymentId, deploymentId].map((id) => platform.gateway.deployment(id));
  return one !== null && one !== undefined && other !== null && other !== undefined && isSameUpstream(one, other);
}

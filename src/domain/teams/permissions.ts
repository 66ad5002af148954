import { Forbidden } from '../errors.ts';
import type { Team } from './team.ts';

/** Routes that manage keys. A team may permit its members to call them. */
export const KEY_PERMISSIONS = [
  '/key/info',
  '/key/health',
  '/key/list',
  '/key/generate',
  '/key/service-account/generate',
  '/key/update',
  '/key/delete',
  '/key/regenerate',
  '/key/block',
  '/key/unblock',
] as const;
export type KeyPermission = (typeof KEY_PERMISSIONS)[number];

/** Permissions that a team may store: `KEY_PERMISSIONS`, and those of the reference that have no effect here. */
export const TEAM_PERMISSIONS = [
  ...KEY_PERMISSIONS,
  '/key/{key_id}/regenerate',
  '/key/bulk_update',
  '/team/key/bulk_update',
  '/key/{key_id}/reset_spend',
  '/key/access_group_assignment',
  '/auto_router/manage',
  '/key/aliases',
  '/team/daily/activity',
  '/team/daily/activity/aggregated',
  '/spend/logs',
  '/spend/logs/v2',
] as const;

/** Key routes that members may call in a team that sets no permissions. */
const DEFAULT_PERMISSIONS: readonly string[] = ['/key/info', '/key/health'];

const permissionsOf = ({ memberPermissions }: Team): readonly string[] =>
  memberPermissions.length === 0 ? DEFAULT_PERMISSIONS : memberPermissions;

/**
 * The permissions in effect and `added`, in alphabetic order; null when the team already has all of `added`. Members
 * keep the default permissions of a team that sets none.
 */
export function withPermissions(team: Team, added: readonly string[]): readonly string[] | null {
  const current = new Set(permissionsOf(team));
  return added.every((one) => current.has(one)) ? null : [...new Set([...current, ...added])].toSorted();
}

/** Whether members of a team with the role `user` may call a key route. */
export const isPermitted = (team: Team, route: KeyPermission): boolean => permissionsOf(team).includes(route);

/** A member of a team calls a key route that the team does not permit. */
export class NotPermitted extends Forbidden {
  readonly route: KeyPermission;
  constructor(team: Team, route: KeyPermission) {
    const listed = permissionsOf(team).map((one) => `'${one}'`);
    super(
      `Team member does not have permissions for endpoint: ${route}. You only have access to the following endpoints: [${listed.join(', ')}] for team ${team.id}. To create keys for this team, please ask your proxy admin to check the team member permission settings and update the settings to allow team member users to create keys.`,
      'team_permission',
    );
    this.name = 'NotPermitted';
    this.route = route;
  }
}

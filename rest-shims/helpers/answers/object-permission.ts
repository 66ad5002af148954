import type { ObjectPermission } from '../../../src/domain/object-permissions/object-permission.ts';

/**
 * Members of an answer with the permission of an owner. Permissions have no id in this server, so that
 * `object_permission_id` is the id of the owner.
 */
export const renderPermission = ({
  id,
  objectPermission,
}: {
  readonly id: string;
  readonly objectPermission: ObjectPermission | null;
}) => ({
  object_permission_id: objectPermission === null ? null : id,
  object_permission: objectPermission,
});

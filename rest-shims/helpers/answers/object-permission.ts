import type { ObjectPermission } from '../../../src/domain/object-permissions/object-permission.ts';

/** The permission of an owner. As its own row has no id here, it has that of the owner. */
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

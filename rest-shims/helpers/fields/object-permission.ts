import { object, optional, orNull } from '../http/body-fields.ts';

/** Reader of the member `object_permission` of a body: null removes the permission. The domain checks its members. */
export const OBJECT_PERMISSION = { object_permission: optional(orNull(object)) };

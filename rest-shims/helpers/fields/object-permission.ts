import { object, optional, orNull } from '../http/body-fields.ts';

/** Reader of `object_permission`, as a member of a body. Null removes it. The domain checks its members. */
export const OBJECT_PERMISSION = { object_permission: optional(orNull(object)) };

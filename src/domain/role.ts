/** The roles of the documented interface that a credential can act as. */
export const ROLES = ['proxy_admin', 'proxy_admin_viewer', 'internal_user', 'internal_user_viewer'] as const;
export type Role = (typeof ROLES)[number];

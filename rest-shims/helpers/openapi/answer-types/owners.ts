import type { AnswerTypes } from './notation.ts';

/** Answers of route rows about keys, their owners and budgets, and about the audit log. */
export const OWNERS_ANSWERS: AnswerTypes = {
  'accessGroups.create': 'AccessGroup',
  'accessGroups.delete': {
    'text/plain': 'string',
  },
  'accessGroups.info': 'AccessGroup',
  'accessGroups.list': 'AccessGroup[]',
  'accessGroups.update': 'AccessGroup',
  'auditLog.get': 'AuditEntry',
  'auditLog.list': `
    { audit_logs: AuditEntry[], total: integer, page: integer, page_size: integer, total_pages: integer }
  `,
  'budgets.create': 'Budget',
  'budgets.delete': 'Budget | null',
  'budgets.info': 'Budget[]',
  'budgets.list': 'Budget[]',
  'budgets.page': '{ data: Budget[], meta: PageMeta, links: PageLinks }',
  'budgets.settings': 'Setting[]',
  'budgets.update': 'Budget | null',
  'customers.block': '{ blocked_users: Customer[] }',
  'customers.create': 'Customer',
  'customers.delete': '{ deleted_customers: integer, message: string }',
  'customers.info': 'Customer',
  'customers.list': 'Customer[]',
  'customers.unblock': '{ unblocked_users: Customer[] }',
  'customers.update': 'Customer',
  'invitations.answer': 'Invitation',
  'invitations.create': 'Invitation',
  'invitations.delete': 'Invitation',
  'invitations.info': 'Invitation',
  'keys.aliases': `
    { aliases: unknown, total_count: integer, current_page: integer, total_pages: integer, size: integer }
  `,
  'keys.block': 'Key',
  'keys.bulkUpdate': `
    { total_requested: integer, successful_updates: { key: string, key_info: KeyInfo }[], failed_updates: {
    key: string, key_info: unknown, failed_reason: string }[] }
  `,
  'keys.delete': '{ deleted_keys: string[] }',
  'keys.generate': 'Key',
  'keys.generateServiceKey': 'Key',
  'keys.health': '{ key: string, logging_callbacks: unknown }',
  'keys.info': '{ key: string, info: KeyInfo }',
  'keys.infos': '{ key: string[], info: KeyInfo[] }',
  'keys.list': `
    { keys: unknown[], total_count: integer, current_page: integer, total_pages: integer }
  `,
  'keys.regenerate': 'Key',
  'keys.resetSpend': `
    { key_hash: string, spend: number, previous_spend: number, max_budget: number | null, budget_reset_at: string | null }
  `,
  'keys.unblock': 'Key',
  'keys.update': 'Key',
  'organizationMembers.add': `
    { organization_id: string, updated_users: User[], updated_organization_memberships: OrganizationMember[] }
  `,
  'organizationMembers.remove': 'OrganizationMember',
  'organizationMembers.update': 'OrganizationMember',
  'organizations.create': 'Organization',
  'organizations.delete': 'Organization[]',
  'organizations.info': 'Organization',
  'organizations.infos': 'Organization[]',
  'organizations.list': 'Organization[]',
  'organizations.patch': 'Organization',
  'organizations.update': 'Organization',
  'projects.create': 'Project',
  'projects.delete': 'Project[]',
  'projects.info': 'Project',
  'projects.list': 'Project[]',
  'projects.update': 'Project',
  'tags.create': '{ message: string, tag: Tag }',
  'tags.delete': '{ message: string }',
  'tags.info': 'Record<Tag>',
  'tags.list': 'Tag[]',
  'tags.update': '{ message: string, tag: Tag }',
  'teamKeys.update': `
    { total_requested: integer, successful_updates: { key: string, key_info: KeyInfo }[], failed_updates: {
    key: string, key_info: unknown, failed_reason: string }[] }
  `,
  'teamLogging.addCallback': '{ status: string, data: Team }',
  'teamLogging.disable': `
    { status: string, message: string, data: { team_id: string, success_callbacks: unknown[],
    failure_callbacks: unknown[] } }
  `,
  'teamLogging.get': `
    { status: string, data: { team_id: string, success_callbacks: string[], failure_callbacks: string[],
    callback_vars: Record<string> } }
  `,
  'teamLogging.removeCallback': `
    { status: string, message: string, data: { team_id: string, success_callbacks: string[],
    failure_callbacks: string[] } }
  `,
  'teamMembers.add': 'Team',
  'teamMembers.addMany': `
    { team_id: string, results: { user_id: string | null, user_email: unknown, success: boolean, error: string | null,
    updated_user: { user_id: string, user_email: unknown } | null, updated_team_membership: TeamMembership | null }[],
    total_requested: integer, successful_additions: integer, failed_additions: integer, updated_team: Team }
  `,
  'teamMembers.own': `
    { user_id: string, team_id: string, budget_id: string | null, spend: number, total_spend: number,
    litellm_budget_table: object | null, role: string, user_email: string | null, team_alias: string | null }
  `,
  'teamMembers.remove': 'Team',
  'teamMembers.resetSpend': `
    { team_id: string, user_id: string, spend: number, previous_spend: number, max_budget: number | null }
  `,
  'teamMembers.update': `
    { user_id: string, user_email: unknown, team_id: string, max_budget_in_team: number | null, tpm_limit: unknown,
    rpm_limit: integer | null, budget_duration: unknown, allowed_models: unknown, temp_budget_increase: unknown,
    temp_budget_expiry: unknown }
  `,
  'teamPermissions.add': `
    { message: string, teams_updated: integer, permissions_appended: string[] | null }
  `,
  'teams.addModels': 'Team',
  'teams.available': 'Team[]',
  'teams.block': 'Team',
  'teams.create': 'Team',
  'teams.delete': '{ deleted_teams: string[] }',
  'teams.info': `
    { team_id: string, team_info: object, keys: Key[], team_memberships: TeamMembership[] }
  `,
  'teams.list': 'Team[]',
  'teams.page': `
    { teams: Team[], total: integer, page: integer, page_size: integer, total_pages: integer }
  `,
  'teams.patch': 'Team',
  'teams.permissions': `
    { team_id: string, team_member_permissions: string[], all_available_permissions: string[] }
  `,
  'teams.removeModels': 'Team',
  'teams.unblock': 'Team',
  'teams.update': '{ team_id: string, data: Team }',
  'teams.updatePermissions': 'Team',
  'tokenMappings.create': 'TokenMapping',
  'tokenMappings.delete': '{ status: string }',
  'tokenMappings.info': 'TokenMapping',
  'tokenMappings.list': `
    { mappings: TokenMapping[], total_count: integer, current_page: integer, total_pages: integer }
  `,
  'tokenMappings.update': 'TokenMapping',
  'users.bulkUpdate': `
    { results: { user_id: string | null, user_email: string | null, success: boolean, error: string | null,
    updated_user: User | null }[], total_requested: integer, successful_updates: integer, failed_updates: integer }
  `,
  'users.count': `
    { total_users: unknown, total_teams: unknown, total_users_used: integer, total_teams_used: integer,
    total_teams_remaining: unknown, total_users_remaining: unknown }
  `,
  'users.create': 'Key',
  'users.delete': 'integer',
  'users.flatInfo': 'User',
  'users.info': 'UserKeys',
  'users.list': `
    { users: User[], total: integer, page: integer, page_size: integer, total_pages: integer }
  `,
  'users.update': '{ user_id: string, data: User }',
};

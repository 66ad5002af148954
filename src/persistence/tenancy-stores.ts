import type { TenancyStores } from '../domain/tenancy-stores.ts';
import { createAccessGroupStore } from './access-groups/store.ts';
import { createBudgetStore } from './budgets/store.ts';
import { createCustomerStore } from './customers/store.ts';
import type { Database } from './database/database.ts';
import { createOrganizationMemberStore, createOrganizationStore } from './organizations/store.ts';
import { createProjectStore } from './projects/store.ts';
import { createTagStore } from './tags/store.ts';
import { createTeamMemberStore, createTeamStore } from './teams/store.ts';
import { createTokenMappingStore } from './token-mappings/store.ts';
import { createInvitationStore, createUserStore } from './users/store.ts';

/** Stores of users, teams and what belongs to them. */
export const createTenancyStores = (database: Database): TenancyStores => ({
  accessGroups: createAccessGroupStore(database),
  budgets: createBudgetStore(database),
  customers: createCustomerStore(database),
  invitations: createInvitationStore(database),
  organizations: createOrganizationStore(database),
  organizationMembers: createOrganizationMemberStore(database),
  projects: createProjectStore(database),
  tags: createTagStore(database),
  teams: createTeamStore(database),
  teamMembers: createTeamMemberStore(database),
  tokenMappings: createTokenMappingStore(database),
  users: createUserStore(database),
});

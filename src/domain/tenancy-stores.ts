import type { AccessGroupStore } from './access-groups/access-group.ts';
import type { BudgetStore } from './budgets/budget.ts';
import type { CustomerStore } from './customers/customer.ts';
import type { OrganizationMemberStore, OrganizationStore } from './organizations/organization.ts';
import type { ProjectStore } from './projects/project.ts';
import type { TagStore } from './tags/tag.ts';
import type { TeamMemberStore } from './teams/member.ts';
import type { TeamStore } from './teams/team.ts';
import type { TokenMappingStore } from './token-mappings/token-mapping.ts';
import type { InvitationStore } from './users/invitation.ts';
import type { UserStore } from './users/user.ts';

/** Stores of users, teams and what belongs to them. */
export interface TenancyStores {
  readonly accessGroups: AccessGroupStore;
  readonly budgets: BudgetStore;
  readonly customers: CustomerStore;
  readonly invitations: InvitationStore;
  readonly organizations: OrganizationStore;
  readonly organizationMembers: OrganizationMemberStore;
  readonly projects: ProjectStore;
  readonly tags: TagStore;
  readonly teams: TeamStore;
  readonly teamMembers: TeamMemberStore;
  readonly tokenMappings: TokenMappingStore;
  readonly users: UserStore;
}

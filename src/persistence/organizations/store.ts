import type { OrganizationMemberStore, OrganizationStore } from '../../domain/organizations/organization.ts';
import type { Database } from '../database/database.ts';
import { containing, createRowStore, matching } from '../database/row-store.ts';
import { OrganizationMemberEntity, OrganizationEntity } from './entities.ts';

export const createOrganizationStore = (database: Database): OrganizationStore =>
  createRowStore(database, {
    entity: OrganizationEntity,
    noun: 'organization',
    audited: 'organization',
    where: ({ ids, aliasPart }) => [...matching({ id: ids }), ...containing('alias', aliasPart)],
    sortColumns: { organization_alias: 'alias' },
    conflictText: ({ id }) => `Organization with id '${id}' already exists.`,
  });

export const createOrganizationMemberStore = (database: Database): OrganizationMemberStore =>
  createRowStore(database, {
    entity: OrganizationMemberEntity,
    noun: 'organization member',
    audited: 'organization_member',
    where: ({ organizationIds, userIds }) => matching({ organizationId: organizationIds, userId: userIds }),
    conflictText: ({ userId }) => `User already in organization. Member: user_id=${userId}.`,
  });

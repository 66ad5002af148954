import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { newAccessGroup } from '../../src/domain/access-groups/access-group.ts';
import { newBudget } from '../../src/domain/budgets/budget.ts';
import { newCustomer } from '../../src/domain/customers/customer.ts';
import { Conflict } from '../../src/domain/errors.ts';
import { newOrganization } from '../../src/domain/organizations/organization.ts';
import { newProject } from '../../src/domain/projects/project.ts';
import type { RowStore, Stamps } from '../../src/domain/row-store.ts';
import { newTag } from '../../src/domain/tags/tag.ts';
import { ALL_TEAMS, newTeam, type Team } from '../../src/domain/teams/team.ts';
import type { TenancyStores } from '../../src/domain/tenancy-stores.ts';
import { newInvitation } from '../../src/domain/users/invitation.ts';
import { newTokenMapping } from '../../src/domain/token-mappings/token-mapping.ts';
import { ALL_USERS, newUser, type UserSort } from '../../src/domain/users/user.ts';
import type { Usd } from '../../src/domain/money.ts';
import type { Engine, ScratchDatabase } from './engines.ts';
import { picos, START_MS } from './samples.ts';

interface AnyRow extends Stamps {
  readonly id: string;
}

/** Store of any row type, because the cases of a table have different types. */
type AnyStore = RowStore<AnyRow, unknown>;

const about = (id: string, offsetMs = 0) => ({ id, now: new Date(START_MS + offsetMs), by: 'admin' });
const LIMITS = {
  maxBudget: picos(2n ** 70n),
  softBudget: picos(1n),
  budgetDuration: '30d',
  rpmLimit: 5,
  tpmLimit: 2 ** 40,
  tpdLimit: 7,
  maxParallelRequests: 0,
};
const stamps = (offsetMs: number) => {
  const now = new Date(START_MS + offsetMs);
  return { createdAt: now, createdBy: 'admin', updatedAt: now, updatedBy: 'admin' };
};

/** Factories of rows, by store. */
const NOUNS: Readonly<Record<keyof TenancyStores, (id: string, offsetMs: number) => AnyRow>> = {
  accessGroups: (id, offsetMs) =>
    newAccessGroup(
      {
        name: `group ${id}`,
        description: 'd',
        models: ['m'],
        mcpServerIds: ['s'],
        agentIds: ['a'],
        teamIds: ['t'],
        keyIds: ['k'],
      },
      about(id, offsetMs),
    ),
  tokenMappings: (id, offsetMs) =>
    newTokenMapping(
      { claimName: 'client_id', claimValue: `v ${id}`, keyHash: 'k', description: 'd', active: false },
      about(id, offsetMs),
    ),
  budgets: (id, offsetMs) =>
    newBudget(
      {
        ...LIMITS,
        modelMaxBudget: { b: 1, a: { c: null } },
        allowedModels: ['m'],
        tempBudgetIncrease: 5_000_000_000_001n as Usd,
        tempBudgetExpiry: new Date(START_MS),
      },
      about(id, offsetMs),
    ),
  users: (id, offsetMs) =>
    newUser(
      {
        ...LIMITS,
        alias: 'A',
        email: `${id}@Example.com`,
        role: 'proxy_admin',
        models: ['b', 'a'],
        metadata: { z: 1 },
      },
      about(id, offsetMs),
    ),
  invitations: (id, offsetMs) => newInvitation('user', about(id, offsetMs)),
  teams: (id, offsetMs) =>
    newTeam(
      {
        ...LIMITS,
        alias: 'T_100%',
        organizationId: 'o',
        modelAliases: { fast: 'demo' },
        blocked: true,
        memberPermissions: ['/key/generate'],
        memberBudgetId: 'b',
      },
      about(id, offsetMs),
    ),
  teamMembers: (id, offsetMs) => ({
    id,
    teamId: 't',
    userId: id,
    role: 'admin',
    budgetId: 'b',
    spentBefore: (10n ** 21n) as Usd,
    ...stamps(offsetMs),
  }),
  organizations: (id, offsetMs) =>
    newOrganization({ models: ['m'] }, { ...about(id, offsetMs), alias: 'Org', budgetId: 'b' }),
  organizationMembers: (id, offsetMs) => ({
    id,
    organizationId: 'o',
    userId: id,
    role: 'org_admin',
    budgetId: null,
    ...stamps(offsetMs),
  }),
  projects: (id, offsetMs) =>
    newProject({ alias: 'P', tags: ['x'], blocked: true }, { ...about(id, offsetMs), teamId: 't' }),
  customers: (id, offsetMs) =>
    newCustomer({ blocked: true, allowedModelRegion: 'eu', defaultModel: 'm' }, about(id, offsetMs)),
  tags: (id, offsetMs) => newTag({ description: 'd', models: ['m'], budgetId: 'b' }, about(id, offsetMs)),
};

/** Contract of the stores of users, teams and related rows. */
export function tenancyStoreSuite(engine: Engine): void {
  describe.skipIf(engine.skipReason !== null)(`tenancy stores on ${engine.name}`, () => {
    let scratch: ScratchDatabase;
    let stores: TenancyStores;
    beforeAll(async () => {
      scratch = await engine.create();
      stores = await scratch.open();
    });
    afterEach(() => scratch.clear());
    afterAll(() => scratch.remove());

    describe.each(Object.keys(NOUNS) as (keyof TenancyStores)[])('%s', (name) => {
      const store = () => stores[name] as unknown as AnyStore;
      const rowOf = NOUNS[name];

      it('returns rows unchanged, and null for an unknown id', async () => {
        await store().add(rowOf('one', 0), rowOf('two', 1));
        expect(await store().find('one')).toEqual(rowOf('one', 0));
        expect(await store().findMany(['two', 'three', 'one'])).toEqual([rowOf('one', 0), rowOf('two', 1)]);
        expect(await store().find('three')).toBeNull();
      });

      it('refuses an existing id, and adds none of the rows', async () => {
        await store().add(rowOf('one', 0));
        await expect(store().add(rowOf('two', 0), rowOf('one', 0))).rejects.toThrow(Conflict);
        expect(await store().find('two')).toBeNull();
      });

      it('applies all concurrent changes of one row', async () => {
        await store().add(rowOf('one', 0));
        const later = (row: AnyRow): AnyRow => ({ ...row, updatedAt: new Date(row.updatedAt.getTime() + 1) });
        await Promise.all([1, 2, 3].map(() => store().change('one', later)));
        expect((await store().find('one'))?.updatedAt).toEqual(new Date(START_MS + 3));
        expect(await store().change('two', later)).toBeNull();
      });

      it('removes rows, and returns those that existed', async () => {
        await store().add(rowOf('one', 0), rowOf('two', 1));
        expect(await store().remove(['one', 'three'])).toEqual([rowOf('one', 0)]);
        expect(await store().remove(['one'])).toEqual([]);
        expect(await store().find('two')).toEqual(rowOf('two', 1));
      });
    });

    it('names the row of a conflict when several rows are added', async () => {
      const [first, second, third] = ['p1', 'p2', 'p3'].map((id) => newProject({}, { ...about(id), teamId: 't' }));
      if (first === undefined || second === undefined || third === undefined) throw new TypeError('Three projects.');
      await stores.projects.add(second);
      const adding = stores.projects.add(first, second, third);
      await expect(adding).rejects.toThrow(new Conflict('Project id = p2 already exists.'));
      expect(await stores.projects.findMany(['p1', 'p3'])).toEqual([]);
    });

    it('pages teams by alias after a row, in both directions, teams with the same alias by id', async () => {
      const aliases = [null, 'b', 'a', 'b', null, 'ü', "a' or 1=1 --"];
      for (const [index, alias] of aliases.entries())
        await stores.teams.add(newTeam(alias === null ? {} : { alias }, about(`t${index}`)));
      const page = { filter: ALL_TEAMS, sort: 'team_alias', limit: 2, from: 0 } as const;
      for (const descending of [false, true]) {
        const all = await stores.teams.list({ ...page, descending, limit: 100 });
        expect(all.map(({ id }) => id).toSorted()).toEqual(['t0', 't1', 't2', 't3', 't4', 't5', 't6']);
        expect(all.filter(({ alias }) => alias === 'b').map(({ id }) => id)).toEqual(
          descending ? ['t3', 't1'] : ['t1', 't3'],
        );
        const paged: string[] = [];
        let from: 0 | { readonly text: string; readonly id: string } = 0;
        for (;;) {
          const rows: readonly Team[] = await stores.teams.list({ ...page, descending, from });
          paged.push(...rows.map(({ id }) => id));
          const last = rows.at(-1);
          if (last === undefined) break;
          from = { text: last.alias ?? '', id: last.id };
        }
        expect(paged).toEqual(all.map(({ id }) => id));
      }
      // A position that no column can hold.
      const strange = { text: 'a\0\uD800', id: '\uDFFF\0' };
      await expect(stores.teams.list({ ...page, descending: false, from: strange })).resolves.toBeInstanceOf(Array);
    });

    it('filters by parts of texts and by flags, with pattern characters as plain text', async () => {
      await stores.projects.add(
        newProject({ alias: '100%_A', blocked: true }, { ...about('p1'), teamId: 't' }),
        newProject({ alias: '100xxa' }, { ...about('p2'), teamId: 't' }),
        newProject({}, { ...about('p3'), teamId: 'u' }),
      );
      const projects = async (filter: object) =>
        (await stores.projects.all({ teamIds: null, ...filter })).map(({ id }) => id);
      expect(await projects({ aliasPart: '%_a' })).toEqual(['p1']);
      expect(await projects({ aliasPart: '100' })).toEqual(['p1', 'p2']);
      expect(await projects({ blocked: false })).toEqual(['p2', 'p3']);
      expect(await projects({ teamIds: ['t'], teamId: 'u' })).toEqual([]);
      expect(await projects({ teamId: 'u', blocked: null })).toEqual(['p3']);
      await stores.customers.add(
        newCustomer({ alias: 'Guest', budgetId: 'b' }, about('c-1')),
        newCustomer({ blocked: true }, about('C-2')),
      );
      const customers = async (filter: object) =>
        (await stores.customers.all({ ids: null, ...filter })).map(({ id }) => id);
      expect((await customers({ idPart: 'c-' })).toSorted()).toEqual(['C-2', 'c-1']);
      expect(await customers({ aliasPart: 'guE' })).toEqual(['c-1']);
      expect(await customers({ budgetId: 'b' })).toEqual(['c-1']);
      expect(await customers({ blocked: true })).toEqual(['C-2']);
      await stores.budgets.add(newBudget({}, about('Gold')), newBudget({}, about('tin')));
      expect((await stores.budgets.all({ ids: null, idPart: 'OL' })).map(({ id }) => id)).toEqual(['Gold']);
    });

    it('pages by offset and after a row, in both directions', async () => {
      for (const [id, ms] of [
        ['a', 0],
        ['b', 0],
        ['c', 1],
        ['d', 1],
      ] as const)
        await stores.users.add(newUser({}, about(id, ms)));
      const page = { filter: ALL_USERS, sort: 'created_at', descending: false, limit: 2, from: 0 } as const;
      const ids = async (more: object) => (await stores.users.list({ ...page, ...more })).map(({ id }) => id);
      expect(await ids({})).toEqual(['a', 'b']);
      expect(await ids({ from: 3 })).toEqual(['d']);
      expect(await ids({ from: { createdAt: new Date(START_MS), id: 'a' } })).toEqual(['b', 'c']);
      expect(await ids({ descending: true, from: { createdAt: new Date(START_MS + 1), id: 'c' } })).toEqual(['b', 'a']);
      expect(await ids({ sort: 'user_id', descending: true })).toEqual(['d', 'c']);
      expect(await stores.users.count(ALL_USERS)).toBe(4);
    });

    it('orders users by budget, and by spend since the start of their window', async () => {
      // Without calls, the spend in a window is the negative of `spentBefore`: 5, 40 and -7.
      const budgets = [3n, 20n, null];
      for (const [index, id] of ['a', 'b', 'c'].entries()) {
        const row = newUser({ maxBudget: (budgets[index] ?? null) as Usd | null }, about(id));
        await stores.users.add({ ...row, spentBefore: [-5n, -40n, 7n][index] as Usd });
      }
      const page = { filter: ALL_USERS, descending: false, limit: 9, from: 0 } as const;
      const ids = async (sort: UserSort) => (await stores.users.list({ ...page, sort })).map(({ id }) => id);
      expect(await ids('max_budget')).toEqual(['c', 'a', 'b']);
      expect(await ids('spend')).toEqual(['c', 'a', 'b']);
      const idsAfter = async (text: string, id: string, descending: boolean) =>
        (await stores.users.list({ ...page, sort: 'spend', from: { text, id }, descending })).map((user) => user.id);
      // Numeric order: as text, 40 sorts before 5.
      expect(await idsAfter('5', 'a', false)).toEqual(['b']);
      expect(await idsAfter('5', 'a', true)).toEqual(['c']);
      expect(await idsAfter('40', 'a', false)).toEqual(['b']);
      expect(await idsAfter('39', 'z', true)).toEqual(['a', 'c']);
      expect(await idsAfter('9'.repeat(30), 'a', false)).toEqual([]);
    });

    it('filters users by id, email, alias, role and SSO id', async () => {
      await stores.users.add(
        newUser({ email: 'Ann@Example.com', alias: 'Ann_1', role: 'internal_user' }, about('ann')),
        newUser({ email: 'b_b@other.org', ssoUserId: 's' }, about('bob')),
      );
      const ids = async (filter: object) =>
        (await stores.users.all({ ...ALL_USERS, ...filter })).map(({ id }) => id).toSorted();
      expect(await ids({})).toEqual(['ann', 'bob']);
      expect(await ids({ emailPart: 'EXAMPLE' })).toEqual(['ann']);
      expect(await ids({ emailPart: '_' })).toEqual(['bob']);
      expect(await ids({ emails: ['ann@example.com'] })).toEqual(['ann']);
      expect(await ids({ aliasPart: 'nN_' })).toEqual(['ann']);
      expect(await ids({ role: 'internal_user', ids: ['bob'] })).toEqual([]);
      expect(await ids({ ssoUserIds: ['s'] })).toEqual(['bob']);
      expect(await ids({ ids: [] })).toEqual([]);
    });

    it('refuses an email of another user in any letter case, also in a change', async () => {
      await stores.users.add(newUser({ email: 'a@x.org' }, about('a')), newUser({}, about('b')));
      await expect(stores.users.add(newUser({ email: 'A@X.org' }, about('c')))).rejects.toThrow(Conflict);
      const taking = stores.users.change('b', (user) => ({ ...user, email: 'A@x.org', emailKey: 'a@x.org' }));
      await expect(taking).rejects.toThrow(Conflict);
    });

    it('filters teams by part of the alias and by organization, and refuses a second membership', async () => {
      await stores.teams.add(
        newTeam({ alias: 'T_100%', organizationId: 'o' }, about('t1')),
        newTeam({ alias: 'Tx100' }, about('t2')),
      );
      const ids = async (filter: object) => (await stores.teams.all({ ...ALL_TEAMS, ...filter })).map(({ id }) => id);
      expect(await ids({ aliasPart: 't_1' })).toEqual(['t1']);
      expect(await ids({ aliasPart: '0%' })).toEqual(['t1']);
      expect(await ids({ organizationId: 'o' })).toEqual(['t1']);
      const member = {
        teamId: 't1',
        userId: 'u',
        role: 'user',
        budgetId: null,
        spentBefore: null,
        ...stamps(0),
      } as const;
      await stores.teamMembers.add({ ...member, id: 'm1' });
      await expect(stores.teamMembers.add({ ...member, id: 'm2' })).rejects.toThrow(Conflict);
      expect(await stores.teamMembers.all({ teamIds: ['t1'], userIds: null })).toEqual([{ ...member, id: 'm1' }]);
    });
  });
}

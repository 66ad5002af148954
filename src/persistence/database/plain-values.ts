import type { EntityClass } from '@mikro-orm/core';
import type { Orm } from './database.ts';

/** A declaration of an entity, as `defineEntity` returns it. */
export interface Declared<Entity extends object = object> {
  readonly class: abstract new (...parameters: never[]) => Entity;
}

/** The values of an entity without its revision. An absent value is null. */
export type Plain<Entity> = {
  readonly [Name in Exclude<keyof Entity & string, 'revision'>]-?: Exclude<Entity[Name], undefined>;
};

/** Reads the values of entities of one kind. */
export function plainValues<Entity extends object>(
  orm: Orm,
  declared: Declared<Entity>,
): (stored: Entity) => Plain<Entity> {
  const names = orm
    .getMetadata<Entity>(declared.class as EntityClass<Entity>)
    .props.flatMap(({ name }) => (name === 'revision' ? [] : [name]));
  return (stored) => Object.fromEntries(names.map((name) => [name, stored[name] ?? null])) as Plain<Entity>;
}

import { isJsonObject, type JsonObject, jsonObjectOf } from '../json-object.ts';

const skillsOf = (body: JsonObject): readonly unknown[] => {
  const { skills } = jsonObjectOf(body['container']);
  return Array.isArray(skills) ? skills : [];
};

/** Id of a skill that an account stores; null for a skill that the provider publishes, and for another value. */
function storedId(skill: unknown): string | null {
  if (!isJsonObject(skill) || skill['type'] === 'anthropic') return null;
  const { skill_id: id } = skill;
  return typeof id === 'string' ? id : null;
}

/** Ids of the stored skills that a request for a message names, each once. */
export const skillsIn = (body: JsonObject): readonly string[] => [
  ...new Set(skillsOf(body).flatMap((skill) => storedId(skill) ?? [])),
];

/** The `container` of a request, with other ids of its skills. `upstreamIds` has them by the sent ids. */
export const containerWithSkills = (body: JsonObject, upstreamIds: ReadonlyMap<string, string>): JsonObject => ({
  ...jsonObjectOf(body['container']),
  skills: skillsOf(body).map((skill) => {
    const id = storedId(skill);
    return id === null ? skill : { ...jsonObjectOf(skill), skill_id: upstreamIds.get(id) ?? id };
  }),
});

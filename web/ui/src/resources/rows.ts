import type { Resource } from '../session/events';

/** A resource and how deep it stands below the release's own objects. */
export interface ResourceRow {
  /** As resourceKey names it. */
  key: string;
  resource: Resource;
  depth: number;
  /** Rows below belong to it. */
  owns: boolean;
}

/** Puts each resource below its owner, in the order of the map; what has no known owner is at the top. */
export function withOwners(resources: ReadonlyMap<string, Resource>): ResourceRow[] {
  const owned = new Map<string, [string, Resource][]>();
  for (const [key, resource] of resources) {
    const owner = resource.owner && resource.owner !== key && resources.has(resource.owner) ? resource.owner : '';
    const siblings = owned.get(owner) ?? [];
    siblings.push([key, resource]);
    owned.set(owner, siblings);
  }
  const rows: ResourceRow[] = [];
  const visit = (owner: string, depth: number) => {
    const children = owned.get(owner) ?? [];
    owned.delete(owner);
    for (const [key, resource] of children) {
      rows.push({ key, resource, depth, owns: owned.has(key) });
      visit(key, depth + 1);
    }
  };
  visit('', 0);
  // Owners that own each other are nobody's children; they are shown all the same.
  for (const owner of [...owned.keys()]) {
    visit(owner, 0);
  }
  return rows;
}

/** Leaves out what stands below the rows whose keys are folded. */
export function withoutFolded(rows: readonly ResourceRow[], folded: ReadonlySet<string>): ResourceRow[] {
  let below = Infinity;
  return rows.filter(({ key, depth }) => {
    if (depth > below) {
      return false;
    }
    below = folded.has(key) ? depth : Infinity;
    return true;
  });
}

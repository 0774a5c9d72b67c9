import type { Resource } from '../session/events';

/** A resource and its depth below the release's own objects. */
export interface ResourceRow {
  /** Its resourceKey. */
  key: string;
  resource: Resource;
  depth: number;
  /** Whether it owns other rows. */
  owns: boolean;
}

/** Orders each resource below its owner, otherwise as in the map. Resources without a known owner are at the top level. */
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
  // Resources that own each other are not below any root, but must be shown.
  for (const owner of [...owned.keys()]) {
    visit(owner, 0);
  }
  return rows;
}

/** Removes the rows below folded ones. */
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

/** Returns which versions of Helm judge the resource in another way, and how. */
export function disagreements({ helm, current }: Pick<Resource, 'helm' | 'current'>) {
  if (!helm) {
    return [];
  }
  const { helm3, helm4 } = helm;
  const judged =
    helm3 === helm4
      ? [{ helm: 'both', verdict: helm3 } as const]
      : [{ helm: 'helm3', verdict: helm3 } as const, { helm: 'helm4', verdict: helm4 } as const];
  return judged.filter(({ verdict }) => (verdict === 'ready') !== current);
}

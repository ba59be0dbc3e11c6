// What this browser keeps. Where nothing may be kept, it lasts as long as the page.

const memory = new Map();

export function keep(name, value) {
  try {
    if (value === null) localStorage.removeItem(name);
    else localStorage.setItem(name, value);
    memory.delete(name);
  } catch {
    if (value === null) memory.delete(name);
    else memory.set(name, value);
  }
}

export function kept(name) {
  if (memory.has(name)) return memory.get(name);
  try { return localStorage.getItem(name); } catch { return null; }
}

/** All names that begin so, in order. */
export function keptNames(prefix) {
  const names = [...memory.keys()];
  try {
    for (let i = 0; i < localStorage.length; i += 1) names.push(localStorage.key(i));
  } catch { /* nothing is kept */ }
  return names.filter((name) => name.startsWith(prefix)).sort();
}

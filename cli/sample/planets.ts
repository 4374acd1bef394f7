/**
 * The data that `quickstart` works on when it is given no folder: the planets and the moons that were known of them before
 * space flight, with what changed since. Facts of astronomy, put together by us and in the public domain
 * (`docs/dependencies.md`).
 */

const PLANETS_HEAD = `name,mean_radius_km,orbital_period_years,discovered
Mercury,2440,0.24,antiquity
Venus,6052,0.62,antiquity
Earth,6371,1.00,antiquity
Mars,3390,1.88,antiquity
Jupiter,69911,11.9,antiquity
Saturn,58232,29.5,antiquity
Uranus,25362,84.0,1781
Neptune,24622,164.8,1846
`;

/** The files, by their paths: nine planets, as they were counted until 2006. */
export const SAMPLE_FILES: Readonly<Record<string, string>> = {
  "README.txt": "The planets, and those of their moons that were discovered from Earth first, by planet.\n",
  "planets.csv": `${PLANETS_HEAD}Pluto,1195,247.9,1930\n`,
  "moons/earth.csv": "name,discovered,discoverer\nMoon,antiquity,\n",
  "moons/mars.csv": "name,discovered,discoverer\nPhobos,1877,Asaph Hall\nDeimos,1877,Asaph Hall\n",
  "moons/jupiter.csv": `name,discovered,discoverer
Io,1610,Galileo Galilei
Europa,1610,Galileo Galilei
Ganymede,1610,Galileo Galilei
Callisto,1610,Galileo Galilei
`,
  "moons/saturn.csv": `name,discovered,discoverer
Titan,1655,Christiaan Huygens
Iapetus,1671,Giovanni Domenico Cassini
Rhea,1672,Giovanni Domenico Cassini
Tethys,1684,Giovanni Domenico Cassini
Dione,1684,Giovanni Domenico Cassini
Mimas,1789,William Herschel
Enceladus,1789,William Herschel
`,
  "moons/uranus.csv": `name,discovered,discoverer
Titania,1787,William Herschel
Oberon,1787,William Herschel
Ariel,1851,William Lassell
Umbriel,1851,William Lassell
Miranda,1948,Gerard Kuiper
`,
  "moons/neptune.csv": "name,discovered,discoverer\nTriton,1846,William Lassell\nNereid,1949,Gerard Kuiper\n",
  "moons/pluto.csv": "name,discovered,discoverer\nCharon,1978,James Christy\n",
};

/** What the International Astronomical Union decided in 2006: Pluto is none of the planets. */
export const PLANETS_SINCE_2006 = PLANETS_HEAD;

/** The dwarf planets, and since when they are called so. */
export const DWARF_PLANETS =
  "name,recognised\nCeres,2006\nPluto,2006\nEris,2006\nMakemake,2008\nHaumea,2008\n";

/** Meanwhile the probe New Horizons measured Pluto. */
export const PLANETS_MEASURED = `${PLANETS_HEAD}Pluto,1188,247.9,1930\n`;

//! Who else runs this machine: a hypervisor, a container engine.

use std::fs;
use std::path::Path;

use syscost_results::Known;

use super::tree::Tree;

/// Hypervisors by a word in the firmware's vendor or product. A vendor alone says nothing where it
/// sells machines, too: Google, Microsoft and Oracle do, and Amazon's are named `.metal`.
const BY_FIRMWARE: [(&str, &str); 10] = [
    ("kvm", "KVM"),
    ("qemu", "QEMU"),
    ("vmware", "VMware"),
    ("xen", "Xen"),
    ("virtualbox", "VirtualBox"),
    ("parallels", "Parallels"),
    ("amazon ec2", "Amazon EC2"),
    ("google compute engine", "Google"),
    ("microsoft corporation virtual machine", "Microsoft"),
    ("apple virtualization", "Apple"),
];

/// The end of the products of Amazon that are whole machines.
const METAL: &str = ".metal";

/// The machine's own namespace of process ids (`PROC_PID_INIT_INO` of the kernel).
const FIRST_PIDS: &str = "pid:[4026531836]";

/// Container engines by a word in the path of a control group or of the root's storage.
const ENGINES: [(&str, &str); 8] = [
    ("libpod", "podman"),
    ("crio-", "cri-o"),
    ("cri-containerd", "containerd"),
    ("io.containerd.", "containerd"),
    ("kubepods", "kubernetes"),
    ("/docker/", "docker"),
    ("docker-", "docker"),
    ("lxc.payload", "lxc"),
];

impl Tree<'_> {
    /// The hypervisor of a virtual machine: by its firmware's vendor, or only that there is one. On
    /// x86 the processor's own flag decides whether there is; elsewhere that none is seen may mean
    /// that nothing tells, but not where the firmware names a machine that is whole.
    pub(super) fn hypervisor(&self, cpuinfo: &str) -> Known<String> {
        let mut flags = cpuinfo.lines().filter(|line| line.starts_with("flags"));
        let is_flagged = flags.next().map(|line| {
            let mut flags = line.split_whitespace();
            flags.any(|flag| flag == "hypervisor")
        });
        // Xen tells its first domain, too, which has no flag.
        if self.text("sys/hypervisor/type").as_deref() == Some("xen") {
            return Known::Yes("Xen".to_owned());
        }
        if is_flagged == Some(false) {
            return Known::No;
        }
        let named = self
            .by_firmware()
            .or_else(|| self.by_device_tree())
            .or_else(|| self.by_sysinfo());
        let named = named.or_else(|| is_flagged.map(|_| "unnamed".to_owned()));
        match named {
            Some(name) => Known::Yes(name),
            None if self.firmware().ends_with(METAL) => Known::No,
            None => Known::Unknown,
        }
    }

    /// Vendor and product by the firmware, in lower case; empty where it tells nothing.
    fn firmware(&self) -> String {
        let parts = ["sys_vendor", "product_name"].map(|file| {
            let text = self.text(&format!("sys/class/dmi/id/{file}"));
            text.unwrap_or_default().to_lowercase()
        });
        parts.join(" ")
    }

    fn by_firmware(&self) -> Option<String> {
        let firmware = self.firmware();
        let mut known = BY_FIRMWARE.iter();
        let named = known.find(|(word, _)| firmware.contains(word) && !firmware.ends_with(METAL));
        named.map(|(_, name)| (*name).to_owned())
    }

    /// ARM and POWER describe their hypervisor in the device tree.
    fn by_device_tree(&self) -> Option<String> {
        let compatible = self.text("proc/device-tree/hypervisor/compatible");
        let known = [("kvm", "KVM"), ("xen", "Xen")];
        let named = compatible.and_then(|text| {
            let named = known.iter().find(|(word, _)| text.contains(word));
            named.map(|(_, name)| (*name).to_owned())
        });
        named.or_else(|| {
            let partition = self.text("proc/device-tree/ibm,partition-name");
            partition.map(|_| "PowerVM".to_owned())
        })
    }

    /// An s390 always has one: its own logical partitions (PR/SM), and perhaps another above.
    fn by_sysinfo(&self) -> Option<String> {
        let sysinfo = self.text("proc/sysinfo")?;
        let program = sysinfo.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            (key.trim() == "VM00 Control Program").then(|| value.trim().to_owned())
        });
        let program = program.map(|program| match program.starts_with("KVM") {
            true => "KVM".to_owned(),
            false => program.split_whitespace().collect::<Vec<_>>().join(" "),
        });
        program.or_else(|| sysinfo.contains("LPAR Number").then(|| "PR/SM".to_owned()))
    }

    /// The container engine. That none is seen tells nothing where the root's storage is not told.
    pub(super) fn container(&self) -> Known<String> {
        match self.engine() {
            Some(name) => Known::Yes(name),
            None if self.path("proc/self/mountinfo").exists() => Known::No,
            None => Known::Unknown,
        }
    }

    /// The container engine, by the mark that it leaves, or by where it keeps its containers.
    fn engine(&self) -> Option<String> {
        let mounts = self.text("proc/self/mountinfo").unwrap_or_default();
        let is_root = |line: &&str| line.split(' ').nth(4) == Some("/");
        let root = mounts.lines().find(is_root).unwrap_or_default();
        // A machine whose root was made of an image keeps the mark of the engine that it is no more in.
        let ids = fs::read_link(self.path("proc/self/ns/pid")).unwrap_or_default();
        let is_of_machine = ids == Path::new(FIRST_PIDS) && !root.contains(" - overlay ");
        let is_there = |path: &str| self.path(path).exists() && !is_of_machine;
        if is_there(".dockerenv") {
            return Some("docker".to_owned());
        }
        if let Some(named) = self.text("run/systemd/container") {
            return Some(named);
        }
        if is_there("run/.containerenv") {
            return Some("podman".to_owned());
        }
        let group = self.text("proc/self/cgroup").unwrap_or_default();
        let mut engines = ENGINES.iter();
        let named = engines.find(|(word, _)| root.contains(word) || group.contains(word));
        named.map(|(_, name)| (*name).to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The hypervisor of a machine with this vendor, product and cpuinfo.
    fn of(vendor: &str, product: &str, cpuinfo: &str) -> Known<String> {
        let root = tempfile::tempdir().expect("a temporary folder");
        let folder = root.path().join("sys/class/dmi/id");
        fs::create_dir_all(&folder).expect("make the folder");
        fs::write(folder.join("sys_vendor"), vendor).expect("write the file");
        fs::write(folder.join("product_name"), product).expect("write the file");
        Tree::new(root.path()).hypervisor(cpuinfo)
    }

    #[test]
    fn a_vendor_that_sells_machines_makes_none_virtual() {
        let (virtual_, bare) = ("flags : fpu hypervisor\n", "flags : fpu\n");
        for (vendor, product, name) in [
            ("Amazon EC2", "m5.metal", "Amazon EC2"),
            ("Google", "Google Compute Engine", "Google"),
            ("Microsoft Corporation", "Virtual Machine", "Microsoft"),
            ("QEMU", "Standard PC", "QEMU"),
        ] {
            assert_eq!(of(vendor, product, bare), Known::No, "{vendor}");
            let found = of(vendor, product, virtual_);
            let expected = if product == "m5.metal" {
                "unnamed"
            } else {
                name
            };
            assert_eq!(found.name(), Some(expected));
        }
        // ARM has no flag: of a guest without firmware nothing tells.
        assert_eq!(of("Amazon EC2", "m6g.metal", ""), Known::No);
        assert_eq!(of("Amazon EC2", "m6g.large", "").name(), Some("Amazon EC2"));
        assert_eq!(
            of("Microsoft Corporation", "Surface Pro", ""),
            Known::Unknown
        );
        assert_eq!(of("", "", ""), Known::Unknown);
    }

    #[test]
    fn a_container_is_named_by_where_it_is_kept() {
        let root = tempfile::tempdir().expect("a temporary folder");
        let write = |path: &str, text: &str| {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().expect("has a parent")).expect("make the folder");
            fs::write(path, text).expect("write the file");
        };
        let tree = Tree::new(root.path());
        assert_eq!(tree.container(), Known::Unknown);
        write("proc/self/cgroup", "0::/system.slice/docker.service\n");
        write(
            "proc/self/mountinfo",
            "20 1 0:5 / / rw - overlay overlay rw,upperdir=/var/lib/containerd/\
             io.containerd.snapshotter.v1.overlayfs/snapshots/7/fs\n",
        );
        assert_eq!(tree.container().name(), Some("containerd"));
        write(
            "proc/self/mountinfo",
            "20 1 8:1 / / rw - ext4 /dev/sda1 rw\n",
        );
        write(
            "proc/self/cgroup",
            "0::/kubepods/besteffort/pod1/cri-containerd-2\n",
        );
        assert_eq!(tree.container().name(), Some("containerd"));
        write("proc/self/cgroup", "0::/user.slice\n");
        assert_eq!(tree.container(), Known::No);
        write("run/systemd/container", "lxc\n");
        assert_eq!(tree.container().name(), Some("lxc"));
    }

    #[test]
    fn a_mark_left_over_from_an_image_makes_no_container() {
        let root = tempfile::tempdir().expect("a temporary folder");
        let folder = root.path().join("proc/self/ns");
        fs::create_dir_all(&folder).expect("make the folder");
        fs::write(root.path().join(".dockerenv"), "").expect("write the file");
        let tree = Tree::new(root.path());
        assert_eq!(
            tree.container().name(),
            Some("docker"),
            "nothing else is known"
        );
        std::os::unix::fs::symlink(FIRST_PIDS, folder.join("pid")).expect("a link");
        for (kind, engine) in [("ext4", None), ("overlay", Some("docker"))] {
            let mounts = format!("20 1 8:1 / / rw - {kind} x rw\n");
            fs::write(root.path().join("proc/self/mountinfo"), mounts).expect("write the file");
            assert_eq!(tree.container().name(), engine);
        }
    }
}
